/**
 * Data flows one way: a room imports only rooms above it in the list, type imports included.
 */
import { expect, test } from 'vitest';
import { readSources, roomOf, type SourceFile } from './source.ts';

/** From the leaf to the edge; a room may import those before it and itself. */
const order = [
  'shared', 'config', 'postgres', 'server',
  'graphql/catalog', 'graphql/model', 'graphql/schema', 'graphql/compile', 'graphql/documents', 'graphql/execute', 'graphql/live',
  'graphql/routes', 'graphql', 'check',
  'email', 'auth', 'management', 'studio', 'routes.ts', 'change-options.ts', 'reports.ts', 'gateway.ts', 'signals.ts', 'embed', 'index.ts', 'cli', 'main.ts',
]; // biome-ignore format: a list

/** Rooms that may import less than what stands before them: the two wings know nothing of each other. */
const only: Readonly<Record<string, readonly string[]>> = {
  'graphql/model': ['shared', 'config', 'graphql/catalog'],
  'graphql/schema': ['shared', 'config', 'graphql/model'],
  'graphql/compile': ['shared', 'config', 'graphql/model', 'graphql/schema'],
  email: ['shared', 'config', 'postgres'],
  auth: ['shared', 'config', 'postgres', 'server', 'email'],
  management: ['shared', 'config', 'postgres', 'server', 'email', 'auth'],
};

/** Folders of pure functions: no files, no network, no clock of their own. */
const pure = ['graphql/model', 'graphql/schema', 'graphql/compile'];
const pureBuiltIns = ['node:buffer', 'node:crypto', 'node:util'];

const sources = readSources();

test('every file of src/ lives in a room that has a place in the order', () => {
  expect(sources.filter((file) => !order.includes(file.folder)).map((file) => file.path)).toEqual([]);
});

test('a room imports only rooms above it', () => {
  expect(sources.flatMap(importsAgainstDirection)).toEqual([]);
});

test('model, schema and compile are pure: no input or output', () => {
  const problems = sources
    .filter((file) => pure.includes(file.folder))
    .flatMap((file) =>
      file.imports
        .filter(({ package: name }) => name?.startsWith('node:') && !pureBuiltIns.includes(name))
        .map(({ specifier }) => `${file.path} imports ${specifier}`),
    );
  expect(problems).toEqual([]);
});

function importsAgainstDirection(file: SourceFile): string[] {
  const allowed = [file.folder, ...(only[file.folder] ?? order.slice(0, order.indexOf(file.folder)))];
  return file.imports
    .filter((entry) => entry.file?.startsWith('src/') && !allowed.includes(roomOf(entry.file)))
    .map(({ specifier }) => `${file.path} (${file.folder}) imports ${specifier}`);
}
