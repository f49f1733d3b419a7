/** The lock files name everything that `npm ci` wants, also what is for other platforms than the one they were made on. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface LockedPackage {
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly resolved?: string;
}

test.each([
  'package-lock.json',
  'test/package-lock.json',
  'examples/clients/package-lock.json',
  'examples/email-links/package-lock.json',
  'examples/live-todo/package-lock.json',
  'test/bench/package-lock.json',
])('%s is complete', (path) => {
  const file = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  const { packages } = JSON.parse(file) as { packages: Readonly<Record<string, LockedPackage>> };
  const names = new Set(Object.keys(packages).map((key) => key.slice(key.lastIndexOf('node_modules/') + 13)));
  const missing = Object.entries(packages).flatMap(([key, { dependencies, optionalDependencies }]) =>
    Object.keys({ ...dependencies, ...optionalDependencies })
      .filter((name) => !names.has(name))
      .map((name) => `${key || 'the project'} wants ${name}`),
  );
  expect(missing).toEqual([]);
  // An address would tie the project to one registry.
  expect(Object.values(packages).filter(({ resolved }) => resolved?.startsWith('http'))).toEqual([]);
});
