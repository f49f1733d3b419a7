/** What is remembered of callers takes the memory that it is limited to, and of tokens that were good no more than is of use. */
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { preambleOf, preambleSteps } from '../../../src/postgres/caller/preamble.ts';
import { StatementNames } from '../../../src/postgres/wire/statement-names.ts';
import { type Authenticate, createAuthenticator } from '../../../src/server/caller/authenticate.ts';
import { type KnownCaller, rememberCallers } from '../../../src/server/caller/remember-callers.ts';
import { anonKey, testConfig, token } from '../../support/http.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const mebibyte = 1024 * 1024;
const limitMebibytes = 32;

const usedBytes = async () => {
  // What one collection frees may hold more.
  for (let pass = 0; pass < 2; pass += 1) {
    collectGarbage();
    await setImmediate();
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

/** As a browser sends them, with a token of so many bytes. */
const headersOf = (caller: number, tokenBytes: number) => [
  ...['Host', 'api.example.com', 'Connection', 'keep-alive', 'Content-Length', '120'],
  ...['Authorization', `Bearer ${String(caller).padStart(tokenBytes, 'x')}`, 'Apikey', 'k'.repeat(180)],
  ...['Accept', '*/*', 'Accept-Language', 'en', 'Content-Type', 'application/json', 'Accept-Encoding', 'gzip, deflate'],
  ...[
    'User-Agent',
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36',
  ],
];

// So many that a third of them has to be forgotten.
test.each([
  [40, 11_000],
  [1500, 5_000],
])('callers with tokens of %i bytes take the memory that they are limited to', async (tokenBytes, callers) => {
  const claims = (caller: number) =>
    JSON.stringify({ sub: String(caller), role: 'authenticated', pad: 'c'.repeat(tokenBytes / 2) });
  const authenticate = Object.assign(
    (headers: FastifyRequest['headers']) => {
      const caller = Number(/\d+$/.exec(headers.authorization ?? '')?.[0]);
      return { role: 'authenticated', claims: claims(caller), validUntil: Number.POSITIVE_INFINITY };
    },
    { keysVersion: () => 1, now: () => 0 },
  ) as unknown as Authenticate;
  const find = rememberCallers(authenticate);
  const names = new StatementNames(true);
  const input = { searchPath: '"public"', settings: new Map<string, string>(), timeoutMs: 8000, preRequest: null };
  const ask = (caller: number) => {
    const rawHeaders = headersOf(caller, tokenBytes);
    const headers = Object.fromEntries(
      rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), rawHeaders[at + 1]]] : [])),
    );
    const request = { method: 'POST', headers, raw: { rawHeaders } } as unknown as FastifyRequest;
    const known = find(request) as KnownCaller;
    for (const readOnly of [true, false]) {
      const freshness = { snapshot: '1000:1000:', memberships: '10000' };
      const preamble = preambleOf({ ...input, caller: known.caller, freshness });
      for (const state of ['plain', 'wrote', 'unknown'] as const) preambleSteps(preamble, { state, readOnly, names });
    }
  };
  ask(1);
  const before = await usedBytes();
  for (let caller = 2; caller < callers; caller += 1) ask(caller);
  const taken = ((await usedBytes()) - before) / mebibyte;
  ask(1);
  expect(taken).toBeLessThan(limitMebibytes * 1.1);
  expect(taken).toBeGreaterThan(limitMebibytes * 0.8);
});

test('tokens are forgotten when they have to be verified again in any case', async () => {
  let minutes = 0;
  const authenticate = await createAuthenticator(testConfig(), { now: () => Date.now() + minutes * 60_000 });
  const ask = async (count: number) => {
    for (let user = 0; user < count; user += 1) {
      const bearer = await token({ role: 'authenticated', sub: `${minutes} ${user}`, pad: 'x'.repeat(4000) });
      await authenticate({ apikey: anonKey, authorization: `Bearer ${bearer}` });
    }
    minutes += 6;
  };
  await ask(100);
  await ask(100);
  const before = await usedBytes();
  for (let round = 0; round < 8; round += 1) await ask(100);
  // Each hundred take half a megabyte; what else the process does leaves something, too.
  expect(((await usedBytes()) - before) / mebibyte).toBeLessThan(2);
});
