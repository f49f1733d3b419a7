/**
 * The table of error codes: every code is provoked once on the whole gateway, and comes with the HTTP status the table
 * promises, as `application/json` and as `application/graphql-response+json`.
 */
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Config, defaultConfig } from '../../src/config/config.ts';
import { type Code, errorCodes } from '../../src/shared/errors.ts';
import { type TestGateway, testGateway } from '../support/gateway.ts';
import { anonKey, operation, token } from '../support/http.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { atEnd } from '../support/when-over.ts';

let database: TestDatabase;
let broken: TestDatabase;
beforeAll(async () => {
  database = await createDatabase(`
    comment on schema public is '@graphql({"inflect_names": true})';
    create table item (id int primary key, body text);
    alter table item enable row level security;
    create policy readable on item for select using (true);
    create table open (id int primary key, body text unique);
    insert into open values (1, 'taken');
    create sequence counter;
    create function fail_with(code text) returns int volatile language plpgsql as
      $$ begin raise exception 'as asked' using errcode = code; end $$;
    create function wait_long() returns int stable language sql as 'select 1 from (select pg_sleep(10)) s';
    create function count_up() returns bigint stable language sql as $$ select nextval('counter') $$;
    grant usage on schema public to anon, authenticated;
    grant select, insert on item, open to anon;
    grant usage on sequence counter to anon;`);
  broken = await createDatabase(`
    create table item (id int primary key);
    comment on table item is '@graphql({"totalCount": )';
    grant usage on schema public to anon; grant select on item to anon;`);
});

/** How a code is provoked: a request, and what its gateway is started with. */
interface Provocation {
  readonly query?: string;
  readonly body?: string;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: () => Promise<Record<string, string>> | Record<string, string>;
  readonly config?: Partial<Config>;
  readonly database?: () => TestDatabase;
  /** Requests sent before. */
  readonly before?: number;
}

const insertItem = (table: string, body: string) =>
  `mutation { insertInto${table}Collection(objects: [{id: 2, body: "${body}"}]) { affectedCount } }`;

const shopQueries = join(import.meta.dirname, '../../examples/shop/queries');

const provocations = {
  GRAPHQL_PARSE_FAILED: { query: '{' },
  GRAPHQL_VALIDATION_FAILED: { query: '{ nothing }' },
  OPERATION_NOT_FOUND: { query: 'query a { __typename } query b { __typename }' },
  PERSISTED_QUERY_NOT_FOUND: { body: '{"documentId":"sha256:ab"}', config: { trustedDocuments: shopQueries } },
  DOCUMENT_NOT_TRUSTED: { query: '{ __typename }', config: { trustedDocuments: shopQueries, trustedOnly: true } },
  BAD_USER_INPUT: { query: '{ openCollection(first: -1) { edges { cursor } } }' },
  INTROSPECTION_DISABLED: { query: '{ __schema { types { name } } }' },
  DIRECTIVE_INVALID: { query: '{ __typename }', database: () => broken },
  LIMIT_EXCEEDED: { query: `{ ${Array.from({ length: 51 }, (_, index) => `a${index}: __typename`).join(' ')} }` },
  PERMISSION_DENIED: { query: insertItem('Item', 'x') },
  CONSTRAINT_VIOLATION: { query: insertItem('Open', 'taken') },
  CONFLICT: { query: 'mutation { failWith(code: "40001") }' },
  RAISED: { query: 'mutation { failWith(code: "P0001") }' },
  READ_ONLY: { query: '{ countUp }', config: { readOnlyQueries: true } },
  TIMEOUT: { query: '{ waitLong }', config: { statementTimeoutMs: 100 } },
  BAD_REQUEST: { body: '{' },
  UNAUTHENTICATED: { query: '{ __typename }', headers: () => ({ apikey: 'wrong' }) },
  ROLE_NOT_ALLOWED: {
    query: '{ __typename }',
    headers: async () => ({ authorization: `Bearer ${await token({ role: 'postgres' })}` }),
  },
  NOT_FOUND: { query: '{ __typename }', path: '/graphql/v2' },
  METHOD_NOT_ALLOWED: { query: '{ __typename }', method: 'PUT' },
  BODY_TOO_LARGE: { query: `{ __typename } #${'x'.repeat(2 * 1024 * 1024)}` },
  UNSUPPORTED_MEDIA_TYPE: { query: '{ __typename }', headers: () => ({ 'content-type': 'text/plain' }) },
  RATE_LIMITED: { query: '{ __typename }', config: { rateLimit: 1 }, before: 1 },
  UNAVAILABLE: { query: '{ __typename }', config: { databaseUrl: 'postgresql://nobody@127.0.0.1:1/none' } },
  INTERNAL: { query: 'mutation { failWith(code: "XX000") }' },
} satisfies Record<Code, Provocation>;

const gateways = new Map<string, Promise<TestGateway>>();

/** A gateway for all codes that want the same. */
function gatewayFor(given: Provocation): Promise<TestGateway> {
  const config = { schemaPollMs: 600_000, limits: defaultConfig.limits, ...given.config };
  const own = (given.database ?? (() => database))();
  const key = `${own.name} ${JSON.stringify(given.config)}`;
  const gateway = gateways.get(key) ?? testGateway(own, config, atEnd);
  gateways.set(key, gateway);
  return gateway;
}

describe.each(Object.entries<Provocation>(provocations))('%s', (code, given) => {
  test.each(['application/json', 'application/graphql-response+json'])(
    'the error is answered as %s',
    async (accept) => {
      const gateway = await gatewayFor(given);
      const send = async () =>
        fetch(`${gateway.url}${given.path ?? '/graphql/v1'}`, {
          method: given.method ?? 'POST',
          headers: { apikey: anonKey, 'content-type': 'application/json', accept, ...(await given.headers?.()) },
          body: given.body ?? operation(given.query ?? ''),
        });
      for (let sent = 0; sent < (given.before ?? 0); sent++) await (await send()).text();
      const response = await send();
      const body = (await response.json()) as { data?: unknown; errors: { extensions: { code: Code } }[] };
      expect(body.errors.map(({ extensions }) => extensions.code)).toEqual([code]);
      const { status, transport } = errorCodes[code as Code];
      // What was executed has `data`, and then the answer as such is good.
      const isTransport = transport || (accept !== 'application/json' && !('data' in body));
      expect(response.status).toBe(isTransport ? status : 200);
      expect(response.headers.get('content-type')).toBe(`${accept}; charset=utf-8`);
      expect(response.headers.get('retry-after') !== null).toBe(status === 429 || status === 503);
    },
  );
});
