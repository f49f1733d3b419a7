/** Every section of the behaviour has tests, and the published tables say which. */
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { authEdgeCases } from './auth-sections.ts';
import { chapters } from './sections.ts';

const root = new URL('../', import.meta.url);

test.each(chapters)('every section is covered by test files that exist: $title', ({ sections }) => {
  const missing = sections.flatMap(({ number, tests }) =>
    tests.filter((name) => !existsSync(new URL(`${name}.test.ts`, root))).map((name) => `${number}: ${name}`),
  );
  expect(missing).toEqual([]);
});

test.each(chapters)('every section is there once, in order: $title', ({ sections }) => {
  const numbers = sections.map(({ number }) => number);
  const inOrder = [...new Set(numbers)].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  expect(numbers).toEqual(inOrder);
});

test('no edge case of the auth service is left out', () => {
  expect(authEdgeCases.map(([number]) => number)).toEqual(Array.from({ length: 150 }, (_, index) => String(index + 1)));
});

test('docs/coverage.md is the tables of sections and tests', async () => {
  const tables = chapters.flatMap(({ title, sections }) => [
    `## ${title}`,
    '',
    '| section | about | tests |',
    '| --- | --- | --- |',
    ...sections.map(({ number, title: about, tests }) => {
      const files = tests.map((name) => `[${name}](../test/${name}.test.ts)`).join(', ');
      return `| ${number} | ${about} | ${files} |`;
    }),
    '',
  ]);
  const text = [
    '# What is tested where',
    '',
    'The sections of the specification and the tests that cover them. Written by `npm run test:update`.',
    '',
    ...tables,
  ].join('\n');
  await expect(text).toMatchFileSnapshot(new URL('docs/coverage.md', new URL('../', root)).pathname);
});
