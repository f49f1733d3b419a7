/**
 * The whole gateway on a test's database: request in, response out, nothing replaced.
 */
import { onTestFinished } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { type Gateway, startGateway } from '../../src/gateway.ts';
import type { Observation } from '../../src/shared/observation.ts';
import { anonKey, operation, testConfig } from './http.ts';
import type { TestDatabase } from './postgres.ts';
import type { WhenOver } from './when-over.ts';

/** A gateway under test. */
export interface TestGateway extends Gateway {
  readonly observations: Observation[];
  /** Sends an operation over the network and returns status and parsed body. */
  ask(
    query: string,
    more?: { variables?: unknown; key?: string; headers?: Record<string, string> },
  ): Promise<GatewayReply>;
}

export interface GatewayReply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  readonly body: any;
}

/** Starts it as the usual login role on a free port, exposing `public`; stopped when the test has ended, unless told otherwise. */
export async function testGateway(
  database: Pick<TestDatabase, 'url' | 'urlAs'>,
  given: Partial<Config> = {},
  whenOver: WhenOver = onTestFinished,
): Promise<TestGateway> {
  const observations: Observation[] = [];
  const url = database.urlAs('authenticator', 'test');
  const config = testConfig({
    databaseUrl: url,
    adminDatabaseUrl: database.url,
    schemas: ['public'],
    port: 0,
    ...given,
  });
  const gateway = await startGateway(config, { observe: (observation) => observations.push(observation) });
  whenOver(() => gateway.stop());
  return {
    ...gateway,
    observations,
    async ask(query, { variables, key = anonKey, headers = {} } = {}) {
      const response = await fetch(`${gateway.url}/graphql/v1`, {
        method: 'POST',
        headers: { apikey: key, 'content-type': 'application/json', ...headers },
        body: operation(query, { variables }),
      });
      return { status: response.status, headers: response.headers, body: await response.json() };
    },
  };
}
