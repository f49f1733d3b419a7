/**
 * Data flows one way: a room imports only rooms above it in the list, type imports included.
 */
import { expect, test } from 'vitest';
import { readSources, roomOf, type SourceFile } from './source.ts';

/** From the leaf to the edge; a room may import those before it and itself. Rooms in one list may import each other. */
const order: readonly (readonly string[])[] = [
  ['shared'], ['config'], ['postgres'],
  ['graphql/catalog'], ['graphql/model'], ['graphql/schema'], ['graphql/compile'], ['graphql/execute'],
  ['email'], ['auth'], ['management'],
  ['server', 'graphql/routes', 'auth/routes', 'management/routes', 'studio/routes'],
  ['gateway.ts'], ['signals.ts'], ['index.ts'], ['cli'], ['main.ts'],
]; // biome-ignore format: a list

/** Rooms that may import less than what stands before them. */
const only: Readonly<Record<string, readonly string[]>> = {
  email: ['shared', 'config', 'postgres'],
  auth: ['shared', 'config', 'postgres', 'email'],
  management: ['shared', 'config', 'postgres', 'email'],
};

/** Folders of pure functions: no files, no network, no clock of their own. */
const pure = ['graphql/model', 'graphql/schema', 'graphql/compile'];
const pureBuiltIns = ['node:buffer', 'node:crypto', 'node:util'];

const sources = readSources();

test('every file of src/ lives in a room that has a place in the order', () => {
  expect(sources.filter((file) => !order.flat().includes(file.folder)).map((file) => file.path)).toEqual([]);
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
  const place = order.findIndex((rooms) => rooms.includes(file.folder));
  const allowed = [file.folder, ...(only[file.folder] ?? order.slice(0, place).flat()), ...(order[place] ?? [])];
  return file.imports
    .filter((entry) => entry.file?.startsWith('src/') && !allowed.includes(roomOf(entry.file)))
    .map(({ specifier }) => `${file.path} (${file.folder}) imports ${specifier}`);
}
