/** Every section of the behaviour has tests, and the published table says which. */
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sections } from './sections.ts';

const root = new URL('../', import.meta.url);

test('every section is covered by test files that exist', () => {
  const missing = sections.flatMap(({ number, tests }) =>
    tests.filter((name) => !existsSync(new URL(`${name}.test.ts`, root))).map((name) => `${number}: ${name}`),
  );
  expect(missing).toEqual([]);
  expect(sections.filter(({ tests }) => tests.length === 0)).toEqual([]);
});

test('docs/coverage.md is the table of sections and tests', async () => {
  const lines = sections.map(({ number, title, tests }) => {
    const files = tests.map((name) => `[${name}](../test/${name}.test.ts)`).join(', ');
    return `| ${number} | ${title} | ${files} |`;
  });
  const text = [
    '# What is tested where',
    '',
    'The sections of the GraphQL behaviour, each with the tests that cover it. Made by `npm run test:update`.',
    '',
    '| section | about | tests |',
    '| --- | --- | --- |',
    ...lines,
    '',
  ].join('\n');
  await expect(text).toMatchFileSnapshot(new URL('docs/coverage.md', new URL('../', root)).pathname);
});
