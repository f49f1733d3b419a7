/** Batches and GET on the whole gateway: a JSON array of requests, each in a transaction of its own. */
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { defaultConfig } from '../../src/config/config.ts';
import { type TestGateway, testGateway } from '../support/gateway.ts';
import { anonKey } from '../support/http.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create table note (id int primary key, body text unique, connection int default pg_backend_pid());
  insert into note values (1, 'a');
  grant all on note to anon;
  create function wait_ms(ms int) returns text language sql stable as
    $$select 'waited' from pg_sleep(ms / 1000.0)$$;
  create function long(length int) returns text language sql stable as $$select repeat('x', length)$$;
`);
const started: (() => unknown)[] = [];
const later = (stop: () => unknown) => void started.push(stop);
const { limits } = defaultConfig;
const gateway = await testGateway(
  database,
  { poolSize: 2, limits: { ...limits, maxResponseBytes: 20_000, maxCost: 100 } },
  later,
);
afterAll(() => Promise.all(started.map((stop) => stop())));
beforeEach(() => database.query(`delete from note where id > 1`));

interface Member {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly { readonly message: string; readonly extensions: Readonly<Record<string, unknown>> }[];
}

async function post(body: unknown, { url }: Pick<TestGateway, 'url'> = gateway, headers = {}) {
  const response = await fetch(`${url}/graphql/v1`, {
    method: 'POST',
    headers: { apikey: anonKey, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const json = (await response.json()) as Member[];
  return { status: response.status, headers: response.headers, json, errors: (json as Member).errors };
}

const first = '{ noteCollection { edges { node { body } } } }';
const insert = (id: number, body = String(id)) => ({
  query: `mutation { insertIntoNoteCollection(objects: [{ id: ${id}, body: "${body}" }]) { affectedCount } }`,
});
const written = async () =>
  (await database.query<{ id: number }>('select id from note order by id')).map(({ id }) => id);
const codes = (members: readonly Member[]) => members.map(({ errors }) => errors?.[0]?.extensions.code);

describe('batches', () => {
  test('a batch is answered in order, and each request sees what those before it wrote', async () => {
    const ids = { query: '{ noteCollection { edges { node { id } } } }' };
    const { status, json } = await post([ids, insert(2), ids]);
    expect(status).toBe(200);
    expect(json.map(({ data }) => JSON.stringify(data).match(/\d+/g))).toEqual([['1'], ['1'], ['1', '2']]);
  });

  test('a batch goes on after a request that fails, which alone is rolled back', async () => {
    const { status, json } = await post([insert(2), insert(3, 'a'), { query: '{' }, { variables: {} }, insert(4)]);
    expect([status, codes(json)]).toEqual([
      200,
      [undefined, 'CONSTRAINT_VIOLATION', 'GRAPHQL_PARSE_FAILED', 'BAD_REQUEST', undefined],
    ]);
    expect(await written()).toEqual([1, 2, 4]);
  });

  test('a batch lets a client fall back from hashes of queries, request by request', async () => {
    const extensions = { persistedQuery: { version: 1, sha256Hash: 'ab' } };
    const { status, json } = await post([{ extensions }, { extensions }]);
    expect([status, json.map(({ errors }) => errors?.[0]?.message)]).toEqual([
      200,
      ['PersistedQueryNotSupported', 'PersistedQueryNotSupported'],
    ]);
  });

  test('a batch is refused as a whole where it is too long, or holds what is no request', async () => {
    for (const body of [
      Array.from({ length: 11 }, (_, index) => insert(index + 10)),
      `[${'{},'.repeat(99_999)}{}]`,
      `${'['.repeat(5000)}${']'.repeat(5000)}`,
      [insert(2), [insert(3)]],
    ]) {
      const { status, errors } = await post(body);
      expect([status, errors?.[0]?.extensions.code]).toEqual([400, 'BAD_REQUEST']);
    }
    expect(await written()).toEqual([1]);
  });

  test('a batch is one request in the log', async () => {
    const before = gateway.observations.length;
    const waits = Array.from({ length: 3 }, () => ({ query: '{ waitMs(ms: 50) }' }));
    const { json } = await post(waits);
    expect(json).toEqual(waits.map(() => ({ data: { waitMs: 'waited' } })));
    expect(gateway.observations.slice(before).filter(({ kind }) => kind === 'request')).toHaveLength(1);
  });

  test('a batch has the limit of bytes of one request', async () => {
    const long = { query: '{ long(length: 9000) }' };
    const { json } = await post([long, long, long, { query: '{ long(length: 5) }' }]);
    expect(codes(json)).toEqual([undefined, undefined, 'LIMIT_EXCEEDED', undefined]);
    expect(json[2]?.errors?.[0]?.extensions.limit).toBe('max-response-bytes');
    expect(json[2]?.errors?.[0]?.message).toMatch(/The requests before it in the batch have used 180\d\d of 20000\.$/);
    const rows = { query: '{ noteCollection { edges { node { body } } } }' };
    await database.query(`insert into note values (2, repeat('y', 9000))`);
    expect(codes((await post([rows, rows, rows])).json)).toEqual([undefined, undefined, 'LIMIT_EXCEEDED']);
  });

  test('a batch has the limit of cost of one request', async () => {
    const page = { query: '{ noteCollection(first: 30) { edges { node { id } } } }' };
    const { json } = await post([
      page,
      page,
      page,
      page,
      { query: '{ noteCollection(first: 10) { edges { cursor } } }' },
    ]);
    expect(codes(json)).toEqual([undefined, undefined, undefined, 'LIMIT_EXCEEDED', undefined]);
    expect(json[3]?.errors?.[0]?.message).toBe(
      'The operation has 30 rows at most, more than the limit of 10 (option --max-cost). The requests before it in the batch have used 90 of 100.',
    );
  });

  test('each request of a batch counts for the rate limit, before any runs', async () => {
    const limited = await testGateway(database, { rateLimit: 3 });
    const { status } = await post([insert(2), insert(3), insert(4), insert(5)], limited);
    expect([status, await written()]).toEqual([429, [1]]);
  });

  test('a batch has the time limit of one request, also where each request is short', async () => {
    const hasty = await testGateway(database, { statementTimeoutMs: 1500 });
    const { json } = await post(
      [{ query: '{ waitMs(ms: 1400) }' }, { query: '{ waitMs(ms: 1400) }' }, insert(2)],
      hasty,
    );
    expect(codes(json).slice(1)).toEqual(['TIMEOUT', 'TIMEOUT']);
    expect(await written()).toEqual([1]);
  });

  test('a batch may be switched off', async () => {
    const off = await testGateway(database, { limits: { ...limits, maxBatch: 1 } });
    const { status, errors } = await post([insert(2)], off);
    expect([status, errors?.[0]?.message]).toEqual([400, 'Batches are switched off (option --max-batch).']);
    expect(await written()).toEqual([1]);
  });
});

describe('queries by GET', () => {
  const get = (parameters: Readonly<Record<string, string>>, url = gateway.url) =>
    fetch(`${url}/graphql/v1?${new URLSearchParams(parameters)}`, { headers: { apikey: anonKey } });

  test('GET answers what POST answers', async () => {
    const response = await get({ query: first });
    expect(await response.json()).toEqual((await gateway.ask(first)).body);
  });

  test('GET runs no mutation, by whatever name it is chosen', async () => {
    const mutation = insert(7).query;
    for (const parameters of [
      { query: mutation },
      { query: `query a ${first} ${mutation.replace('mutation', 'mutation b')}`, operationName: 'b' },
      { query: mutation, extensions: '{"persistedQuery":{"version":1,"sha256Hash":"ab"}}' },
    ]) {
      const response = await get(parameters);
      expect([response.status, response.headers.get('allow'), response.headers.get('cache-control')]).toEqual([
        405,
        'POST',
        'no-store',
      ]);
      expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'METHOD_NOT_ALLOWED' } }] });
    }
    const batch = await get({ query: JSON.stringify([insert(7)]) });
    expect(await batch.json()).toMatchObject({ errors: [{ extensions: { code: 'GRAPHQL_PARSE_FAILED' } }] });
    expect(await written()).toEqual([1]);
  });
});
