/**
 * Live queries while PostgreSQL crashes and restarts, the gateway is killed, and the network breaks, with graphql-ws and graphql-sse as
 * they are published.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { beforeAll, onTestFinished, test } from 'vitest';
import { createRandom } from '../property/random.ts';
import { clientsDirectory, installClients } from '../support/clients.ts';
import { anonKey } from '../support/http.ts';
import { outages, overStockSocket, runOutages, type Subscribe } from './outages.ts';

beforeAll(installClients, 300_000);

const seed = Date.now() % 1_000_000_000;
const rounds = 3;

/** The client of graphql-sse, which gives up after five attempts unless told. */
const overStockEvents: Subscribe = (url, query, next) => {
  const { createClient } = createRequire(join(clientsDirectory, 'index.js'))('graphql-sse');
  const client = createClient({
    url: `${url}/graphql/v1`,
    headers: { apikey: anonKey },
    retryAttempts: Number.POSITIVE_INFINITY,
  });
  const fail = (problem: unknown) => next({ problem: String(problem) });
  client.subscribe({ query }, { next, error: fail, complete: () => fail('complete') });
  return () => client.dispose();
};

test(`live queries go on by themselves after whatever happens to the servers (seed ${seed})`, {
  timeout: 1_800_000,
}, async () => {
  const random = createRandom(seed);
  const names = Array.from({ length: rounds }, () => random.shuffle(Object.keys(outages))).flat();
  await runOutages(names, [overStockSocket, overStockEvents, overStockEvents], onTestFinished);
});
