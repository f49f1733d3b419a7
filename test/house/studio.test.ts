/**
 * The studio is a program of its own, and its files look like all others: a header, documented exports, a size that one person can
 * read, and one direction: pages on components on what is shared.
 */
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, test } from 'vitest';
import { listFiles, root } from './source.ts';

const maxLines = 400;

const files = ['.ts', '.tsx', '.css']
  .flatMap((ending) => listFiles('src/studio/app', ending))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
const modules = files.filter(({ path }) => !path.endsWith('.css'));

test('a file of the studio opens with a comment that says what it is for, and is not long', () => {
  expect(files.filter(({ text }) => !/^\/\*[\s\S]{10,}?\*\//.test(text)).map(({ path }) => path)).toEqual([]);
  expect(files.filter(({ text }) => text.split('\n').length > maxLines).map(({ path }) => path)).toEqual([]);
});

test('an export of the studio has a doc comment', () => {
  const bare = modules.flatMap(({ path, text }) =>
    [...text.matchAll(/^(?<before>.*)\nexport (?:async )?(?:function|class|const|interface|type) (?<name>\w+)/gm)]
      .filter(({ groups }) => !groups?.before?.endsWith('*/'))
      .map(({ groups }) => `${path}: ${groups?.name}`),
  );
  expect(bare).toEqual([]);
});

test('a page of the studio imports no other page, what is shared imports no page and no component, and the server only gives types, the tables of emails, arguments and error codes, language tags, the life of access tokens, SQL names, texts on one line, words of a shell and what it makes of access', () => {
  const given = [
    'src/auth/model/auth-error.ts',
    'src/config/auth/email-kinds.ts',
    'src/config/auth/token-seconds.ts',
    'src/graphql/catalog/quote-name.ts',
    'src/graphql/model/connection-arguments.ts',
    'src/management/access/conditions.ts',
    'src/management/access/unread-key.ts',
    'src/shared/errors.ts',
    'src/shared/language-tag.ts',
    'src/shared/one-line.ts',
    'src/shared/quote-for-shell.ts',
  ];
  const isGiven = (file: string, isType: boolean) => given.includes(file) || (isType && placeOf(file) === 'server');
  const problems = modules.flatMap(({ path, text }) =>
    // Types are gone from the built studio.
    [...text.matchAll(/(?<types>^import type [^;']*)?(?:from|import\() ?'(?<file>\.[^']+)'/gm)]
      .map(({ groups }) => ({
        file: posix.join(posix.dirname(path), groups?.file ?? ''),
        isType: Boolean(groups?.types),
      }))
      .filter(({ file, isType }) => !isGiven(file, isType) && !mayImport(placeOf(path), placeOf(file)))
      .map(({ file }) => `${path} imports ${file}`),
  );
  expect(problems).toEqual([]);
});

test('the look of a class of the studio is in one file, for all styles of a page apply together', () => {
  const homes = new Map<string, Set<string>>();
  for (const { path, text } of files.filter((file) => file.path.endsWith('.css'))) {
    for (const [, name = ''] of text.matchAll(/^\.([\w-]+)(?:,| \{)$/gm))
      homes.set(name, (homes.get(name) ?? new Set()).add(path));
  }
  expect(homes.size).toBeGreaterThan(50);
  expect([...homes].filter(([, paths]) => paths.size > 1)).toEqual([]);
});

/** `shared`, `components`, `pages/emails`, `frame` for what holds the pages together, `server` for everything else in src/. */
function placeOf(path: string): string {
  const [, place] = /^src\/studio\/app\/(shared|components|pages\/\w+)\//.exec(path) ?? [];
  return place ?? (path.startsWith('src/studio/app/') ? 'frame' : 'server');
}

function mayImport(from: string, to: string): boolean {
  if (to === from) return true;
  if (from === 'shared' || to === 'server') return false;
  if (from.startsWith('pages/')) return to === 'shared' || to === 'components';
  // The frame around the pages is a component that lists them.
  return from === 'frame' || to === 'shared' || to === 'frame';
}
