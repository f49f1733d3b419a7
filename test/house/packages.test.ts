/**
 * Each package has a home: the one place that may import it, so that replacing it changes one place.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { supportedRange, supportedVersions } from '../../src/postgres/supported.ts';
import { readSources, root } from './source.ts';

/** Package -> folders of src/ that may import it. Packages of the tests alone are in test/package.json. */
const homes: Readonly<Record<string, readonly string[]>> = {
  '@csstools/css-tokenizer': ['email'],
  '@fastify/proxy-addr': ['server'],
  '@fastify/static': ['studio'],
  '@node-rs/bcrypt': ['auth'],
  '@opentelemetry/api': ['shared'],
  '@opentelemetry/exporter-trace-otlp-proto': ['shared'],
  '@opentelemetry/resources': ['shared'],
  '@opentelemetry/sdk-trace': ['shared'],
  aws4fetch: ['email'],
  'change-case': ['config', 'check', 'cli'],
  commander: ['cli'],
  dataloader: ['graphql'],
  diff: ['cli'],
  entities: ['email'],
  fastify: ['server', 'graphql', 'auth', 'management', 'studio'],
  graphql: ['graphql', 'embed', 'cli'],
  'graphql-ws': ['graphql'],
  'graphql-yoga': ['graphql'],
  'html-to-text': ['email'],
  htmlparser2: ['email'],
  'ipaddr.js': ['shared', 'server'],
  jose: ['config', 'server', 'auth'],
  'lru-cache': ['graphql', 'postgres', 'email', 'auth', 'management', 'server', 'shared'],
  negotiator: ['server'],
  nodemailer: ['email'],
  'openid-client': ['auth'],
  pg: ['postgres'],
  'pg-introspection': ['graphql'],
  pino: ['shared'],
  'pino-pretty': ['shared'],
  pluralize: ['check', 'cli', 'graphql'],
  'smol-toml': ['config'],
  uqr: ['auth'],
  ws: ['graphql'],
};

/** Loaded by the first that needs them: together they would take a fifth of the memory of an idle gateway. */
const lazy = ['@node-rs/bcrypt', 'aws4fetch', 'html-to-text', 'nodemailer', 'openid-client', 'pino-pretty', 'uqr'];

interface Packages {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const readPackages = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8')) as Packages;
const { dependencies, devDependencies } = readPackages('package.json');
const ofTests = readPackages('test/package.json').devDependencies;
const sources = readSources();

test('a package is imported only at home', () => {
  const problems = sources.flatMap((file) =>
    file.imports
      .filter(({ package: name }) => name !== null && !name.startsWith('node:'))
      .filter(({ package: name }) => !(homes[name ?? ''] ?? []).includes(topOf(file.path)))
      .map(
        ({ package: name }) =>
          `${file.path} imports ${name}; its home is ${(homes[name ?? ''] ?? ['nowhere']).join(', ')}`,
      ),
  );
  expect(problems).toEqual([]);
});

test('what only some gateways and requests need is not loaded at the start', () => {
  const eager = sources.flatMap(({ path, imports }) =>
    imports
      .filter(({ package: name, typeOnly, isDynamic }) => lazy.includes(name ?? '') && !typeOnly && !isDynamic)
      .map(({ package: name }) => `${path} imports ${name}`),
  );
  expect(eager).toEqual([]);
});

test('every package is imported in each of its homes', () => {
  const imported = new Set(
    sources.flatMap(({ path, imports }) => imports.map((each) => `${each.package} in ${topOf(path)}`)),
  );
  const listed = Object.entries(homes).flatMap(([name, folders]) => folders.map((folder) => `${name} in ${folder}`));
  expect(listed.filter((home) => !imported.has(home))).toEqual([]);
});

test('versions are exact, so that two installs are the same', () => {
  const all = [dependencies ?? {}, devDependencies, ofTests].flatMap(Object.entries<string>);
  expect(all.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
});

test('the lock files name no registry, so that everyone installs from their own', () => {
  for (const path of ['package-lock.json', 'test/package-lock.json'])
    expect(readFileSync(join(root, path), 'utf8')).not.toContain('"resolved"');
});

/** `graphql`, `auth`, …: the folder directly below src/. */
function topOf(path: string): string {
  return path.split('/')[1] ?? path;
}

test('CI, the package and the pages name the versions of PostgreSQL that are supported', () => {
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  const inWords = `PostgreSQL,? (from )?${supportedRange.replace('-', ' to ')}`;
  const places: Readonly<Record<string, string>> = {
    '.github/workflows/ci.yml': `postgres: \\[${supportedVersions.join(', ')}\\]`,
    'package.json': `PostgreSQL ${supportedRange},`,
    'docker-compose.yml': `image: postgres:${supportedVersions.at(-1)}\n`,
    'README.md': inWords,
    'docs/connect-your-database.md': inWords,
  };
  for (const [path, text] of Object.entries(places)) expect(read(path), path).toMatch(new RegExp(text));
});
