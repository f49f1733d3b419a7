/**
 * The clients of a soak that know the right answer to everything they ask.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Random } from '../property/random.ts';
import { anonKey, token } from '../support/http.ts';
import { longRequest, makeRequest, type SoakRequest } from './requests.ts';
import type { Soak } from './soak-state.ts';

/** Requests of one token; then a client signs in anew. */
const requestsPerToken = 20;
/** One request in so many is left by its client. */
const leftShare = 100;

/** One client, until it is over. @param everyMs From one request to the next; 0: as soon as it is answered. */
export async function beClient(soak: Soak, owner: string, random: Random, everyMs: number): Promise<void> {
  let due = performance.now() + random.int(0, Math.floor(everyMs));
  let key = '';
  for (let count = 0; !soak.isOver(); count += 1) {
    await sleep(Math.max(0, due - performance.now()));
    soak.serial += 1;
    if (count % requestsPerToken === 0) key = await token({ role: 'authenticated', sub: owner, serial: soak.serial });
    if (random.int(1, leftShare) === 1) await leave(soak, key, random);
    else await ask(soak, key, makeRequest(random, soak.serial, owner));
    // One that is late does not make up for it by a burst.
    due = Math.max(due + everyMs, performance.now() - everyMs);
  }
}

/** Longest wait for an answer. */
const patienceMs = 30_000;

/** Sends a request. */
export function send(
  { servers }: Pick<Soak, 'servers'>,
  key: string,
  { query, variables, operationName }: SoakRequest,
  signal: AbortSignal = AbortSignal.timeout(patienceMs),
): Promise<Response> {
  return fetch(`${servers.url}/graphql/v1`, {
    method: 'POST',
    headers: { apikey: anonKey, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables, operationName }),
    signal,
  });
}

/** Sends a request, and compares the answer with the right one. */
export async function ask(soak: Soak, key: string, request: SoakRequest): Promise<void> {
  const { ledger } = soak;
  const since = Date.now();
  try {
    const response = await send(soak, key, request);
    const body = (await response.json()) as { readonly data?: unknown };
    ledger.count('answers');
    if (isDeepStrictEqual(body, { data: request.data })) return ledger.count(`right: ${request.kind}`);
    const text = JSON.stringify(body).slice(0, 300);
    if (response.status !== 503) return ledger.violation(`${request.kind}: ${response.status} ${text}`);
    ledger.count(ledger.wasCalm(since) ? 'refused while nothing happened' : 'refused while something happened');
  } catch (error) {
    ledger.violation(`${request.kind}: no answer, ${String(error)}`);
  }
}

/** Goes away in the middle. */
async function leave(soak: Soak, key: string, random: Random): Promise<void> {
  const signal = AbortSignal.timeout(random.int(1, 60));
  const reply = await send(soak, key, longRequest, signal).catch(() => null);
  if (reply === null || reply.status === 503) soak.ledger.count(longRequest.kind);
  else soak.ledger.violation(`${longRequest.kind}: ${reply.status}`);
}
