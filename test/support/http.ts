/**
 * An HTTP server under test, without a database: the real edge in front of a small executor that answers from a schema
 * written here. For tests of the protocol; whole-gateway tests are in gateway.ts.
 */
import { buildSchema, graphql } from 'graphql';
import { SignJWT } from 'jose';
import { onTestFinished } from 'vitest';
import { type Config, defaultConfig } from '../../src/config/config.ts';
import { chooseDocument } from '../../src/graphql/documents/trusted-list.ts';
import type { Answer, Executor, GraphQLRequest, RequestContext } from '../../src/graphql/execute/executor.ts';
import type { Caller } from '../../src/postgres/caller/caller.ts';
import { addRoutes } from '../../src/routes.ts';
import { createAuthenticator } from '../../src/server/caller/authenticate.ts';
import { createHttpServer } from '../../src/server/create-http-server.ts';
import { type Clock, systemClock } from '../../src/shared/clock.ts';
import type { Code } from '../../src/shared/errors.ts';
import type { Observation } from '../../src/shared/observation.ts';

export const secret = 'a secret of more than thirty-two characters';

/** A test's configuration: defaults, a secret, and what the test is about. */
export function testConfig(given: Partial<Config> = {}): Config {
  return {
    ...defaultConfig,
    databaseUrl: 'postgresql://nobody@127.0.0.1:1/none',
    adminDatabaseUrl: 'postgresql://nobody@127.0.0.1:1/none',
    externalUrl: 'http://localhost:54321',
    jwtSecret: secret,
    // A busy machine is no reason to refuse, and looks at the catalog would make it busier.
    poolWaitMs: 60_000,
    statementTimeoutMs: 60_000,
    schemaPollMs: 600_000,
    ...given,
  };
}

/** A token signed with the secret. */
export function token(claims: Readonly<Record<string, unknown>>, key: string = secret): Promise<string> {
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .sign(new TextEncoder().encode(key));
}

export const anonKey = await token({ role: 'anon' });
export const serviceKey = await token({ role: 'service_role' });

export interface Call {
  readonly caller: Caller;
  readonly request: GraphQLRequest;
  readonly context: RequestContext;
}

const schema = buildSchema(
  'type Query { hello(name: String): String, rows(count: Int!): [String!]!, claims: String, slow: String }',
);

/** Answers with graphql-js; an operation named after an error code fails with it. */
export function smallExecutor(calls: Call[] = []): Executor {
  return {
    isSubscription: async () => false,
    admits: () => true,
    notReady: () => null,
    busyMs: () => 0,
    async execute(caller, request, context): Promise<Answer> {
      calls.push({ caller, request, context });
      const code = request.operationName as Code | null;
      if (code !== null && /^[A-Z_]+$/.test(code)) {
        const body = JSON.stringify({ data: null, errors: [{ message: 'as asked', extensions: { code } }] });
        return { ...empty, body, executed: true, codes: [code] };
      }
      const result = await graphql({
        schema,
        source: chooseDocument(null, request, true),
        variableValues: request.variables,
        operationName: request.operationName,
        rootValue: {
          hello: ({ name }: { name?: string }) => `hello ${name ?? 'world'}`,
          rows: ({ count }: { count: number }) => Array.from({ length: count }, (_, index) => `row number ${index}`),
          claims: () => caller.claims,
          slow: () => new Promise((resolve) => context.signal?.addEventListener('abort', () => resolve('aborted'))),
        },
      });
      const executed = 'data' in result;
      const codes: Code[] = result.errors === undefined ? [] : ['GRAPHQL_VALIDATION_FAILED'];
      return { ...empty, body: JSON.stringify(result), executed, codes, operationName: request.operationName };
    },
  };
}

/** Without subscriptions. */
export const nothingLive = {
  subscribe(): never {
    throw new Error('nothing is live here');
  },
};

const empty = { operationName: null, documentHash: 'abc', stages: { parseMs: 1, compileMs: 2, waitMs: 0, runMs: 3 } };

export interface TestServer {
  readonly calls: readonly Call[];
  readonly observations: readonly Observation[];
  /** Sends a request in process; `key: null` sends no key. */
  send(request: TestRequest): Promise<Reply>;
  /** Listens on a free port and returns the origin. */
  listen(): Promise<string>;
}

interface TestRequest {
  readonly method?: string;
  readonly url?: string;
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  readonly bytes: Buffer;
  readonly json: () => {
    data?: unknown;
    errors?: { message: string; extensions: Record<string, unknown> }[];
    message?: string;
    hint?: string;
  };
}

/** Builds the server of a test; nothing listens until `listen` is called. It is closed when the test has ended. */
export async function testServer(
  given: Partial<Config> = {},
  options: { readonly executor?: Executor; readonly clock?: Clock; readonly graphiqlApiKey?: string } = {},
): Promise<TestServer> {
  const config = testConfig(given);
  const calls: Call[] = [];
  const observations: Observation[] = [];
  const executor = options.executor ?? smallExecutor(calls);
  const observe = (observation: Observation) => void observations.push(observation);
  const authenticate = await createAuthenticator(config, options.clock ?? systemClock, observe);
  const graphiqlApiKey = options.graphiqlApiKey ?? null;
  const parts = { config, executor, live: nothingLive, authenticate, observe, graphiqlApiKey };
  const ready = async () => executor.notReady();
  const app = await createHttpServer({ config, observe, ready }, (http) => addRoutes(http, parts));
  onTestFinished(() => app.close());
  return {
    calls,
    observations,
    async send({ method = 'POST', url = '/graphql/v1', key = anonKey, headers = {}, body }) {
      const response = await app.inject({
        method: method as 'POST',
        url,
        headers: {
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(key !== null && { apikey: key }),
          ...headers,
        },
        ...(body !== undefined && { payload: body }),
      });
      return {
        status: response.statusCode,
        headers: response.headers as Reply['headers'],
        text: response.payload,
        bytes: response.rawPayload,
        json: () => response.json(),
      };
    },
    listen: () => app.listen({ port: 0, host: '127.0.0.1' }),
  };
}

/** The JSON body of an operation. */
export function operation(query: string, more: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({ query, ...more });
}
