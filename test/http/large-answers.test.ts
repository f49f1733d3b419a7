/**
 * Large lists, where an operator has raised the limit, and large descriptions of the schema, which are kept compressed.
 */
import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { type Config, defaultConfig } from '../../src/config/config.ts';
import { type TestGateway, testGateway } from '../support/gateway.ts';
import { anonKey, operation } from '../support/http.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { atEnd } from '../support/when-over.ts';

const count = 60_000;
const raisedLimits = { ...defaultConfig.limits, maxResponseBytes: 64 * 1024 * 1024 };

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase(`
    create table item (id int primary key, body text);
    insert into item select g, repeat('ü "' || g, 30) from generate_series(1, ${count}) g;
    comment on table item is '@graphql({"max_rows": ${count}})';
    create table brittle (id int primary key, body text);
    insert into brittle select * from item where id <= 8000;
    comment on table brittle is '@graphql({"max_rows": ${count}})';
    alter table brittle enable row level security;
    create policy breaks on brittle using (1 / (id - 7000) is not null);
    comment on schema public is '@graphql({"introspection": true})';
    create table long (id int primary key);
    do $$ begin
      execute format('comment on table long is %L', '@graphql({"description": "' || repeat('ü €', 100000) || '"})');
    end $$;
    analyze item, brittle;
    grant usage on schema public to anon;
    grant select on item, brittle, long to anon;
  `);
});

const listOf = (first: number) =>
  `{ itemCollection(first: ${first}) { edges { node { id body } } pageInfo { endCursor } } }`;

const gatewayWith = (more: Partial<Config> = {}): Promise<TestGateway> =>
  testGateway(database, { poolSize: 1, ...more });

/** Sends an operation and returns the response without reading it. */
async function begin(
  gateway: TestGateway,
  query: string,
  headers = {},
): Promise<{ client: ClientRequest; response: IncomingMessage }> {
  const client = httpRequest(`${gateway.url}/graphql/v1`, {
    method: 'POST',
    headers: { apikey: anonKey, 'content-type': 'application/json', ...headers },
  });
  client.end(operation(query));
  const [response] = (await once(client, 'response')) as [IncomingMessage];
  return { client, response };
}

async function readAll(response: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

describe('A large list, where an operator has raised the limit', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await testGateway(database, { poolSize: 1, limits: raisedLimits }, atEnd);
  });

  test('A large list, where an operator has raised the limit, is sent compressed to clients that accept it', async () => {
    const { response } = await begin(gateway, listOf(50_000), { 'accept-encoding': 'gzip' });
    expect(response.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    const { data } = JSON.parse(gunzipSync(await readAll(response)).toString());
    expect(data.itemCollection.edges).toHaveLength(50_000);
    expect(data.itemCollection.pageInfo.endCursor).toBe(Buffer.from('[50000]').toString('base64'));
  });

  test('A large list, where an operator has raised the limit, is an error that a client can read where PostgreSQL fails in the middle', async () => {
    const { body } = await gateway.ask('{ brittleCollection(first: 8000) { edges { node { id body } } } }');
    expect(body).toMatchObject({ data: null, errors: [{ message: 'division by zero' }] });
    expect((await gateway.ask('{ itemByPk(id: 1) { id } }')).body).toEqual({ data: { itemByPk: { id: 1 } } });
  });

  test('A large list, where an operator has raised the limit, holds no connection to the database while a client reads it slowly, or leaves', async () => {
    const { client, response } = await begin(gateway, listOf(20_000));
    client.on('error', () => {});
    expect((await gateway.ask('{ itemByPk(id: 1) { id } }')).body).toEqual({ data: { itemByPk: { id: 1 } } });
    response.destroy();
    expect((await gateway.ask('{ itemByPk(id: 1) { id } }')).body).toEqual({ data: { itemByPk: { id: 1 } } });
  });

  test('A large list, where an operator has raised the limit, is refused when it is over the raised limit', async () => {
    const limits = { ...raisedLimits, maxResponseBytes: 17 * 1024 * 1024 };
    const { ask } = await gatewayWith({ limits });
    const { body } = await ask(listOf(count));
    expect(body).toMatchObject({ data: null, errors: [{ extensions: { limit: 'max-response-bytes' } }] });
  });
});

describe('A large introspection', () => {
  const query = '{ __schema { types { name description fields { name } } } }';
  const read = async (gateway: TestGateway, headers = {}, text = query) => {
    const { response } = await begin(gateway, text, headers);
    const body = await readAll(response);
    expect(body).toHaveLength(Number(response.headers['content-length'] ?? body.length));
    return { headers: response.headers, body };
  };

  test('A large introspection is sent compressed to clients that accept gzip, and with the same text to the others', async () => {
    const gateway = await gatewayWith();
    const plain = await read(gateway);
    const { types } = JSON.parse(plain.body.toString()).data.__schema;
    const { description } = types.find(({ name }: { name: string }) => name === 'long');
    expect(description).toBe('ü €'.repeat(100_000));
    const packed = await read(gateway, { 'accept-encoding': 'br, gzip' });
    expect(packed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    expect(packed.body.length).toBeLessThan(plain.body.length / 10);
    expect(gunzipSync(packed.body).equals(plain.body)).toBe(true);
    const { body, headers } = await read(gateway, { 'accept-encoding': 'br' });
    expect(headers['content-encoding']).toBeUndefined();
    expect(body.equals(plain.body)).toBe(true);
    const bytes = () => gateway.observations.flatMap((each) => (each.kind === 'request' ? [each.bytes] : []));
    // A client may have read the whole body before the gateway knows that it is sent.
    await vi.waitFor(
      () => expect(bytes()).toEqual([plain, plain, plain].map(({ body: { length } }) => length)),
      10_000,
    );
  });

  test('A large introspection is the same beside rows, and in an event stream', async () => {
    const gateway = await gatewayWith();
    const plain = (await read(gateway)).body.toString();
    const beside = await read(gateway, {}, query.replace(/}$/, 'longCollection { edges { cursor } } }'));
    expect(beside.body.toString()).toBe(`${plain.slice(0, -2)},"longCollection":{"edges":[]}}}`);
    const stream = await read(gateway, { accept: 'text/event-stream' });
    expect(stream.body.toString()).toContain(`\ndata: ${plain}\n`);
  });

  test('A large introspection is dropped when the client leaves, without an error in the log', async () => {
    const gateway = await gatewayWith();
    const { client } = await begin(gateway, query);
    client.on('error', () => {});
    client.destroy();
    expect((await gateway.ask('{ itemByPk(id: 1) { id } }')).body).toEqual({ data: { itemByPk: { id: 1 } } });
    expect(gateway.observations.filter(({ kind }) => kind === 'masked_error')).toEqual([]);
  });
});

test('Up to the usual limit an answer is kept, so that what is too large is an error that a client can read', async () => {
  const gateway = await gatewayWith();
  const { body } = await gateway.ask(listOf(count));
  expect(body).toMatchObject({
    data: null,
    errors: [{ extensions: { code: 'LIMIT_EXCEEDED', limit: 'max-response-bytes' } }],
  });
});
