/**
 * The gateway that a test leaves to the one after it: starting one takes longer than most tests. Two in one test are two, and none
 * goes on beside one that was started with something else, whose emails it would send.
 */
import { onTestFinished } from 'vitest';
import type { AuthValues } from '../../src/config/auth/auth-config.ts';
import type { Config } from '../../src/config/config.ts';
import type { Gateway } from '../../src/gateway.ts';
import type { TestDatabase } from './postgres.ts';
import { atEnd } from './when-over.ts';

/** What a gateway is started with, beside its auth values, which can be changed while it runs. */
export interface StartedWith {
  readonly database: TestDatabase;
  readonly options: Partial<Config>;
}

interface Left {
  readonly key: string | null;
  readonly started: { readonly gateway: Gateway };
}

let left: Left | null = null;

/**
 * Takes the gateway that the test before has left where it was started with the same, else starts one. When the test has ended, or
 * calls `leave`, this one is left to the next, or stopped with its test file.
 *
 * @param begin Makes the one that was left look new.
 */
export async function takeGateway<T extends { readonly gateway: Gateway }>(
  { database, options }: StartedWith,
  authValues: AuthValues,
  { start, begin }: { readonly start: () => Promise<T>; readonly begin: (started: T) => unknown },
): Promise<T & { leave(): Promise<void> }> {
  const key = isPlain(options) ? `${database.name} ${JSON.stringify(options)}` : null;
  const before = left;
  left = null;
  const isSame = before !== null && key !== null && before.key === key;
  if (!isSame) await before?.started.gateway.stop();
  const started = isSame ? (before.started as T) : await start();
  if (isSame) {
    await started.gateway.configureAuth({ authValues, authTemplates: {} });
    await begin(started);
  } else {
    atEnd(() => started.gateway.stop());
  }
  let isOver = false;
  const leave = async () => {
    if (isOver) return;
    isOver = true;
    if (key !== null && left === null && started.gateway.app.server.listening) left = { key, started };
    else await started.gateway.stop();
  };
  onTestFinished(leave);
  return { ...started, leave };
}

/** Whether equal options can be told from others, and what follows from them does not depend on what was in force before. */
function isPlain(options: Partial<Config>): boolean {
  return options.authTemplates === undefined && !('hasher' in options);
}
