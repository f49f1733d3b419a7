/** The memory that a batch reserves while its requests run one after the other. */
import type { FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import type { RequestContext } from '../../../../src/graphql/execute/executor.ts';
import type { GraphqlParts } from '../../../../src/graphql/routes/graphql-parts.ts';
import { runBatch } from '../../../../src/graphql/routes/run-batch.ts';
import { testConfig } from '../../../support/http.ts';

test('a batch reserves memory for the answers it has and the one that is being made, and ends where there is none left', async () => {
  const held: number[] = [];
  const hold = (bytes: number) => {
    held.push(bytes);
    return bytes < 200;
  };
  const state = { caller: { role: 'anon' }, identity: null, address: null, aborted: false, hold };
  const execute = async (_caller: unknown, _request: unknown, context: RequestContext) => {
    context.signal?.hold?.(50);
    return { body: 'x'.repeat(100), executed: true, codes: [], stages: { parseMs: 0, compileMs: 0, runMs: 0 } };
  };
  const parts = { config: testConfig(), executor: { execute } } as unknown as GraphqlParts;
  const request = { id: 'a', headers: {}, state } as unknown as FastifyRequest;
  const members = ['a', 'b', 'c'].map((name) => ({ query: `{ ${name} }` }));
  await runBatch(parts, request, { members, countMore: () => undefined });
  expect(held).toEqual([50, 100, 150, 200]);
});
