/**
 * What is published. That it works where it is installed is shown at night, by package.nightly.test.ts.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

test('the package holds SQL, examples and documents, and neither source nor tests', () => {
  const options = ['pack', '--dry-run', '--ignore-scripts', '--json', '--silent'];
  const output = execFileSync('npm', options, { cwd: root, encoding: 'utf8', shell: process.platform === 'win32' });
  const [packed] = JSON.parse(output) as [{ files: { path: string }[] }];
  const paths = packed.files.map(({ path }) => path);
  for (const expected of ['bin/pgreflect.js', 'examples/shop/schema.sql', 'README.md', 'LICENSE', 'CHANGELOG.md'])
    expect(paths).toContain(expected);
  expect(paths.some((entry) => entry.startsWith('sql/'))).toBe(true);
  expect(paths.filter((entry) => /^(src|test)\//.test(entry))).toEqual([]);
});
