/**
 * The whole gateway in a process of its own, for attacks on the process: what it takes of memory, and whether it lives.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { programs } from './bundle-programs.ts';
import { anonKey, operation, testConfig } from './http.ts';
import type { TestDatabase } from './postgres.ts';
import { childEnvironment } from './sent-statements.ts';
import type { WhenOver } from './when-over.ts';

/** A gateway in a process of its own. */
export interface GatewayProcess {
  readonly url: string;
  readonly port: number;
  readonly child: ChildProcess;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  ask(query: string, variables?: unknown): Promise<any>;
  /** The most memory it has had so far, in bytes. */
  peakBytes(): Promise<number>;
  /** The memory of what it keeps, in bytes. */
  keptBytes(): Promise<number>;
}

/** Starts it as the usual login role, exposing `public`; killed when the test has ended, unless told otherwise. */
export async function gatewayProcess(
  database: TestDatabase,
  given: Partial<Config> = {},
  whenOver: WhenOver = onTestFinished,
): Promise<GatewayProcess> {
  const config = testConfig({
    databaseUrl: database.urlAs('authenticator', 'test'),
    adminDatabaseUrl: database.url,
    schemas: ['public'],
    port: 0,
    ...given,
  });
  const env = { ...process.env, ...childEnvironment };
  const child = fork(programs().gatewayChild, [JSON.stringify(config)], { execArgv: [], env });
  whenOver(async () => void child.kill('SIGKILL'));
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  return {
    url,
    port: Number(new URL(url).port),
    child,
    async ask(query, variables) {
      const headers = { apikey: anonKey, 'content-type': 'application/json' };
      const body = operation(query, { variables });
      return (await fetch(`${url}/graphql/v1`, { method: 'POST', headers, body })).json();
    },
    async peakBytes() {
      child.send('memory');
      const [{ peakBytes }] = (await once(child, 'message')) as [{ peakBytes: number }];
      return peakBytes;
    },
    async keptBytes() {
      child.send('kept');
      const [{ keptBytes }] = (await once(child, 'message')) as [{ keptBytes: number }];
      return keptBytes;
    },
  };
}
