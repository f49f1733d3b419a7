import { expect, test } from 'vitest';
import { boundValues } from '../../../src/postgres/wire/flight.ts';
import { keepBytes } from '../../../src/shared/keep-bytes.ts';

test('bytes that are kept are the same bytes, in memory that they have for themselves', () => {
  const kept = keepBytes(['ab', '', 'é'].map((text) => Buffer.from(text)));
  expect(kept.map(String)).toEqual(['ab', '', 'é']);
  for (const piece of kept) expect(piece.buffer.byteLength).toBe(4);
});

test('the values that are kept for a step keep nothing else alive', () => {
  const bound = boundValues(['1', null]);
  expect(bound.buffer.byteLength).toBe(bound.byteLength);
});
