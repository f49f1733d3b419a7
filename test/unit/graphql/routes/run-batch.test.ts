/** The memory that a batch reserves while its requests run one after the other. */
import { expect, test } from 'vitest';
import { type BatchPlace, runBatch } from '../../../../src/graphql/routes/run-batch.ts';

test('a batch reserves memory for the answers it has and the one that is being made, and ends where there is none left', async () => {
  const held: number[] = [];
  const hold = (bytes: number) => {
    held.push(bytes);
    return bytes < 200;
  };
  const client = { aborted: false, hold, addEventListener() {}, removeEventListener() {} };
  const run: BatchPlace['run'] = async (_request, { signal }) => {
    signal?.hold?.(50);
    const stages = { parseMs: 0, compileMs: 0, waitMs: 0, runMs: 0 };
    return { body: 'x'.repeat(100), executed: true, codes: [], operationName: null, stages };
  };
  const members = ['a', 'b', 'c'].map((name) => ({ query: `{ ${name} }` }));
  await runBatch(members, { maxBatch: 10, client, countMore: () => undefined, run });
  expect(held).toEqual([50, 100, 150, 200]);
});
