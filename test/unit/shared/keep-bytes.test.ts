import { expect, test } from 'vitest';
import { encodeSteps } from '../../../src/postgres/wire/flight.ts';
import { keepBytes } from '../../../src/shared/keep-bytes.ts';

test('bytes that are kept are the same bytes, in memory that they have for themselves', () => {
  const kept = keepBytes(['ab', '', 'é'].map((text) => Buffer.from(text)));
  expect(kept.map(String)).toEqual(['ab', '', 'é']);
  for (const piece of kept) expect(piece.buffer.byteLength).toBe(4);
});

test('the messages that are kept of a step keep nothing else alive', () => {
  const steps = encodeSteps([
    { name: 'a', text: 'select $1', values: ['1'] },
    { name: 'b', text: 'select', values: [] },
  ]);
  const messages = steps.map((step) => step.messages as Uint8Array);
  const length = messages.reduce((sum, { byteLength }) => sum + byteLength, 0);
  for (const { buffer } of messages) expect(buffer.byteLength).toBe(length);
});
