/**
 * The shortest way to run statements as a caller in tests of database access.
 */
import { afterAll, expect, vi } from 'vitest';
import type { Caller } from '../../src/postgres/caller/caller.ts';
import type { RunAsOptions, Step } from '../../src/postgres/caller/flight-request.ts';
import { type ApiPool, type ApiPoolOptions, createApiPool } from '../../src/postgres/pool/pool.ts';
import type { RecordingProxy } from './recording-proxy.ts';

/** A caller with the claims a token of this role would have. */
export function callerOf(role: string): Caller {
  return { role, claims: JSON.stringify({ role }), headers: '{}', method: 'POST', path: '/graphql/v1' };
}

/** Options of `runAs` for these texts (or steps), everything else switched off. */
export function flightOf(steps: readonly (string | Step)[], more: Partial<RunAsOptions> = {}): RunAsOptions {
  return {
    caller: callerOf('anon'),
    queuedAs: 'a test',
    searchPath: 'public',
    settings: new Map(),
    timeoutMs: 0,
    requestTimeoutMs: 0,
    freshness: null,
    readOnly: false,
    preRequest: null,
    mutation: false,
    // The tests call functions.
    runsUserCode: true,
    steps: steps.map((step) => (typeof step === 'string' ? { text: step, values: [] } : step)),
    isLight: false,
    customPlanning: 'never',
    signal: null,
    ...more,
  };
}

/** A pool that is stopped after the test file. */
export function openPool(connectionString: string, more: Partial<ApiPoolOptions> = {}): ApiPool {
  const pool = createApiPool({
    connectionString,
    size: 1,
    waitMs: 60_000,
    applicationName: 'pgreflect-test',
    preparedStatements: true,
    maxStatementsPerConnection: 100,
    onEvent: () => {},
    ...more,
  });
  afterAll(() => pool.stop());
  return pool;
}

/** Asks until two of them share a round trip: the statement has a name, and this machine is not too busy. */
export async function makeShared(proxy: RecordingProxy, ask: () => Promise<unknown>): Promise<void> {
  await vi.waitFor(
    async () => {
      await ask();
      proxy.reset();
      await Promise.all([ask(), ask()]);
      expect(proxy.roundTrips()).toBe(1);
    },
    { timeout: 60_000, interval: 20 },
  );
  proxy.reset();
}

/** The first column of each answer, or the kind of the error. */
export async function answersOf(requests: readonly Promise<readonly unknown[]>[]): Promise<unknown[]> {
  const ends = await Promise.allSettled(requests);
  return ends.map((end) => (end.status === 'fulfilled' ? end.value[0] : (end.reason as { kind: string }).kind));
}
