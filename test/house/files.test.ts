/**
 * What every file of src/ looks like: a header, documented exports, a size that one person can read. Names of files, lengths of
 * functions and circles of imports are rules of biome.json; knip finds what nobody uses.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listFiles, readSources, root, type SourceFile, withoutBlockComments } from './source.ts';

const maxLines = 400;
const maxHeaderLines = 8;
const maxMedianLines = 130;

const sources = readSources();

/** The first word of a title, behind `test(`, `describe(` or `.each(…)(`. */
const titlePattern = /(?:\b(?:test|describe)|\))\(\s*['"`]([a-z]+)\b/g;

/** A title that begins with one of them says of something unnamed what it does, or goes on from another title. */
const predicates = new Set(
  (
    'is has are was were does do may must can cannot will would should have takes take refuses leaves stays stay says gives give ' +
    'goes gets get needs keeps shows finds holds hold comes come fails lets makes leads compares raises sends carries ' +
    'hides hide sets serves loses passes stops continue escapes accepts adds follows decides reaches knows skips merge describes ' +
    'becomes and which but so nor it its they'
  ).split(' '),
);

test('a file opens with a comment that says what it is for', () => {
  expect(
    sources.filter((file) => !/^(#!.*\n)?\/\*\*\n? ?[\s\S]{20,}?\*\//.test(file.text)).map((file) => file.path),
  ).toEqual([]);
});

test(`that comment has at most ${maxHeaderLines} lines`, () => {
  const headers = sources.map(({ path, text }) => ({ path, lines: text.slice(0, text.indexOf('*/')).match(/^ \*/gm) }));
  expect(headers.filter(({ lines }) => (lines?.length ?? 0) > maxHeaderLines).map(({ path }) => path)).toEqual([]);
});

test(`a file has at most ${maxLines} lines, half of them at most ${maxMedianLines}`, () => {
  const tooLong = sources
    .filter((file) => file.lines.length > maxLines)
    .map((file) => `${file.path}: ${file.lines.length}`);
  expect(tooLong).toEqual([]);
  const lengths = sources.map((file) => file.lines.length).sort((a, b) => a - b);
  expect(lengths[Math.floor(lengths.length / 2)]).toBeLessThanOrEqual(maxMedianLines);
});

test('the title of a test stands alone: it begins with what it is about', () => {
  const titles = listFiles('test', '.test.ts').flatMap((path) =>
    [...readFileSync(join(root, path), 'utf8').matchAll(titlePattern)].map(([, word]) => ({ path, word })),
  );
  expect(titles.length).toBeGreaterThan(3500);
  expect(titles.filter(({ word }) => predicates.has(word!))).toEqual([]);
});

test('an export has a doc comment', () => {
  expect(sources.flatMap(undocumentedExports)).toEqual([]);
});

test('two files never export the same name', () => {
  const files = Map.groupBy(sources.flatMap(namesOfExports), ({ name }) => name);
  expect([...files.values()].filter(({ length }) => length > 1).flat()).toEqual([]);
});

test('SQL names its columns and says where a catalog table lives', () => {
  const files = [
    ...sources.map(({ path, text }) => ({ path, text: withoutBlockComments(text).replace(/^\s*\/\/.*$/gm, '') })),
    ...listFiles('sql', '.sql').map((path) => ({
      path,
      text: readFileSync(join(root, path), 'utf8').replace(/--.*$/gm, ''),
    })),
  ];
  const problems = files.flatMap(({ path, text }) => [
    ...[...text.matchAll(/\bselect \*/gi)].map(() => `${path}: select *`),
    ...[...text.matchAll(/\b(?:from|join) (pg_(?!temp|catalog\.)[a-z_]+)\b(?!\()/g)].map(
      ([, name]) => `${path}: ${name} without pg_catalog`,
    ),
  ]);
  expect(problems).toEqual([]);
});

const exportPattern =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|const|let|interface|type) (?<name>\w+)/;

function namesOfExports({ path, lines }: SourceFile): { readonly name: string; readonly path: string }[] {
  // A function may have several overloads, and a type the name of its value.
  const names = new Set(lines.flatMap((line) => exportPattern.exec(line)?.groups?.name ?? []));
  return Array.from(names, (name) => ({ name, path }));
}

function undocumentedExports(file: SourceFile): string[] {
  const names = new Set<string>();
  return file.lines.flatMap((line, index) => {
    const name = exportPattern.exec(line)?.groups?.name;
    if (name === undefined || names.has(name)) return [];
    names.add(name);
    const before = file.lines.slice(0, index).findLast((previous) => !previous.startsWith('// biome-ignore'));
    return before?.endsWith('*/') ? [] : [`${file.path}:${index + 1} ${name}`];
  });
}
