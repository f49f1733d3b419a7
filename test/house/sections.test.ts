/** Every behavior has tests that exist. */
import { expect, test } from 'vitest';
import { authEdgeCases } from './auth-edge-cases.ts';
import { chapters } from './sections.ts';
import { listFiles } from './source.ts';
import { readTestNames } from './test-names.ts';

const named = new Map(
  listFiles('test', '.test.ts').map((path) => [path.slice('test/'.length, -'.test.ts'.length), readTestNames(path)]),
);

test.each(chapters)('every section is covered by tests that exist: $title', ({ sections }) => {
  const without = sections.filter(({ tests }) => tests.length === 0).map(({ number }) => number);
  const missing = sections.flatMap(({ number, tests }) =>
    tests
      .filter(({ file, name }) => name === '' || !named.get(file)?.some((each) => each.includes(name)))
      .map(({ file, name }) => `${number}: ${file}: ${name}`),
  );
  expect([without, missing]).toEqual([[], []]);
});

test.each(chapters)('every section is there once, in order: $title', ({ sections }) => {
  const numbers = sections.map(({ number }) => number);
  const inOrder = [...new Set(numbers)].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  expect(numbers).toEqual(inOrder);
});

test('no edge case of the auth service is left out', () => {
  expect(authEdgeCases.map(([number]) => number)).toEqual(Array.from({ length: 150 }, (_, index) => String(index + 1)));
});
