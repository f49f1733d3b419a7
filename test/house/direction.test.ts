/**
 * Data flows one way: a folder imports only folders above it in the list, type imports included.
 */
import { expect, test } from 'vitest';
import { readSources, type SourceFile } from './source.ts';

/** From the leaf to the edge; a folder may import those before it and itself. */
const order = [
  'shared', 'config', 'postgres', 'catalog', 'model', 'schema', 'compile', 'execute', 'egress', 'hooks', 'email', 'auth',
  'management', 'http', 'gateway.ts', 'signals.ts', 'index.ts', 'commands', 'main.ts',
]; // biome-ignore format: a list

/** Folders that may import less than what stands before them. */
const only: Readonly<Record<string, readonly string[]>> = {
  egress: ['shared', 'config'],
  hooks: ['shared', 'config', 'postgres', 'egress'],
  email: ['shared', 'config', 'postgres', 'egress', 'hooks'],
  auth: ['shared', 'config', 'postgres', 'egress', 'hooks', 'email'],
  management: ['shared', 'config', 'postgres', 'email'],
};

/** Folders of pure functions: no files, no network, no clock of their own. */
const pure = ['model', 'schema', 'compile'];
const pureBuiltIns = ['node:buffer', 'node:crypto', 'node:util'];

const sources = readSources();

test('every file of src/ lives in a folder that has a place in the order', () => {
  expect(sources.filter((file) => !order.includes(file.folder)).map((file) => file.path)).toEqual([]);
});

test('a folder imports only folders above it', () => {
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

test('files do not import each other in a circle', () => {
  expect(findCycles(sources)).toEqual([]);
});

test('an import names a file that exists, with its ending', () => {
  const known = new Set(sources.map((file) => file.path));
  const problems = sources.flatMap((file) =>
    file.imports
      .filter((entry) => entry.file?.startsWith('src/') && !entry.file.endsWith('.json') && !known.has(entry.file))
      .map(({ specifier }) => `${file.path} imports ${specifier}`),
  );
  expect(problems).toEqual([]);
});

function importsAgainstDirection(file: SourceFile): string[] {
  const allowed = only[file.folder] ?? order.slice(0, order.indexOf(file.folder));
  return file.imports
    .filter((entry) => entry.file?.startsWith('src/'))
    .filter((entry) => {
      const target = entry.file?.split('/')[1] ?? '';
      return target !== file.folder && !allowed.includes(target);
    })
    .map(({ specifier }) => `${file.path} (${file.folder}) imports ${specifier}`);
}

/** Each circle of imports once, types included, as `a.ts -> b.ts -> a.ts`. */
function findCycles(files: readonly SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const finished = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: readonly string[]) => {
    const start = trail.indexOf(path);
    if (start >= 0) {
      cycles.push([...trail.slice(start), path].join(' -> '));
      return;
    }
    if (finished.has(path)) return;
    for (const { file } of byPath.get(path)?.imports ?? []) {
      if (file !== null) visit(file, [...trail, path]);
    }
    finished.add(path);
  };
  for (const file of files) visit(file.path, []);
  return cycles;
}
