/**
 * Large lists, where an operator has raised the limit: written while they are read, with little in memory, no faster than the client
 * reads, and never taken for whole when they are not. And large descriptions of the schema, which are kept compressed.
 */
import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { type Config, defaultConfig } from '../../src/config/config.ts';
import { type TestGateway, testGateway } from '../support/gateway.ts';
import { anonKey, operation } from '../support/http.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';

const count = 100_000;
const raisedLimits = { ...defaultConfig.limits, maxResponseBytes: 256 * 1024 * 1024 };

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase(`
    create table item (id int primary key, body text);
    insert into item select g, repeat('ü "' || g, 30) from generate_series(1, ${count}) g;
    comment on table item is '@graphql({"max_rows": ${count}})';
    create table brittle (id int primary key, body text);
    insert into brittle select * from item where id <= 30000;
    comment on table brittle is '@graphql({"max_rows": ${count}})';
    alter table brittle enable row level security;
    create policy breaks on brittle using (1 / (id - 25000) is not null);
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

const isWaitingForReader = async () => {
  const waiting = `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event = 'ClientWrite'`;
  return (await database.query(waiting))[0]?.n === 1;
};

describe('A large list', () => {
  test('is the same as one that PostgreSQL has made whole', async () => {
    const gateway = await gatewayWith({ limits: raisedLimits });
    const streamed = await begin(gateway, listOf(20_000));
    expect(streamed.response.headers).toMatchObject({
      'transfer-encoding': 'chunked',
      'content-type': 'application/json; charset=utf-8',
    });
    const body = await readAll(streamed.response);
    const whole = await begin(
      gateway,
      listOf(20_000).replace(/}$/, 'other: itemCollection(first: 0) { edges { cursor } } }'),
    );
    expect(`${body.subarray(0, -2).toString()},"other":{"edges":[]}}}`).toBe(
      (await readAll(whole.response)).toString(),
    );
    expect(gateway.observations.findLast(({ kind }) => kind === 'request')).toMatchObject({ status: 200, codes: [] });
  });

  test('is kept for a client of HTTP/1.0, who would take what was broken off for whole', async () => {
    const { url } = await gatewayWith({ limits: raisedLimits });
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    const body = operation(listOf(5000));
    const headers = [`apikey: ${anonKey}`, 'content-type: application/json', `content-length: ${body.length}`];
    socket.write(`POST /graphql/v1 HTTP/1.0\r\n${headers.join('\r\n')}\r\n\r\n${body}`);
    const parts: Buffer[] = [];
    for await (const part of socket) parts.push(part as Buffer);
    const [head = '', answer = ''] = Buffer.concat(parts).toString().split('\r\n\r\n');
    expect(head).toContain(`\ncontent-length: ${Buffer.byteLength(answer)}`);
  });

  test.each([
    ['of any origin', '*' as const, '*'],
    ['of the origins of --cors-origins', ['https://app.example'], 'https://app.example'],
  ])('can be read by pages %s', async (_, corsOrigins, allowed) => {
    const gateway = await gatewayWith({ limits: raisedLimits, corsOrigins });
    const { response } = await begin(gateway, listOf(20_000), { origin: 'https://app.example' });
    expect(response.headers).toMatchObject({ 'transfer-encoding': 'chunked', 'access-control-allow-origin': allowed });
    expect(response.headers['access-control-expose-headers']).toContain('x-request-id');
    expect(response.headers.vary).toContain('Accept-Encoding');
    await readAll(response);
  });

  test('is compressed where the client wishes', async () => {
    const gateway = await gatewayWith({ limits: raisedLimits });
    const { response } = await begin(gateway, listOf(count), { 'accept-encoding': 'gzip' });
    expect(response.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    const { data } = JSON.parse(gunzipSync(await readAll(response)).toString());
    expect(data.itemCollection.edges).toHaveLength(count);
    expect(data.itemCollection.pageInfo.endCursor).toBe(Buffer.from(`[${count}]`).toString('base64'));
  });

  test('waits in the database for a client that reads slowly', async () => {
    const gateway = await gatewayWith({ limits: raisedLimits });
    const { response } = await begin(gateway, listOf(count));
    await vi.waitFor(async () => expect(await isWaitingForReader()).toBe(true));
    const { data } = JSON.parse((await readAll(response)).toString());
    expect(data.itemCollection.edges.at(-1).node.id).toBe(count);
  });
});

test('A client that stops reading near the end of a list holds no connection to the database', async () => {
  const gateway = await gatewayWith({ limits: raisedLimits });
  // Long keys: parts past what sockets hold are made of the first bytes of the database, which are also the last.
  const key = 'a'.repeat(50_000);
  const { client } = await begin(gateway, `{ itemCollection(first: 400) { edges { node { ${key}: id } } } }`);
  client.on('error', () => {});
  expect((await gateway.ask('{ itemByPk(id: 1) { id } }')).body).toEqual({ data: { itemByPk: { id: 1 } } });
  client.destroy();
});

describe('A large list that does not come to its end is broken off, and the connection is free again', () => {
  const broken = async (gateway: TestGateway, { response }: { response: IncomingMessage }) => {
    await expect(readAll(response)).rejects.toThrow('aborted');
    expect((await gateway.ask('{ itemByPk(id: 1) { id } }')).body).toEqual({ data: { itemByPk: { id: 1 } } });
  };

  test('when PostgreSQL fails in the middle', async () => {
    const gateway = await gatewayWith({ limits: raisedLimits });
    await broken(gateway, await begin(gateway, '{ brittleCollection(first: 30000) { edges { node { id body } } } }'));
  });

  test('when the client does not read in time', async () => {
    const gateway = await gatewayWith({ limits: raisedLimits, statementTimeoutMs: 3000 });
    const request = await begin(gateway, listOf(count));
    const isOver = () => gateway.observations.some(({ kind }) => kind === 'request');
    await vi.waitFor(() => expect(isOver()).toBe(true));
    await broken(gateway, request);
  });

  test('when the client leaves', async () => {
    const gateway = await gatewayWith({ limits: raisedLimits });
    const { client } = await begin(gateway, listOf(count));
    client.on('error', () => {});
    client.destroy();
    expect((await gateway.ask('{ itemByPk(id: 1) { id } }')).body).toEqual({ data: { itemByPk: { id: 1 } } });
  });

  test('when it is over the raised limit', async () => {
    const limits = { ...raisedLimits, maxResponseBytes: 17 * 1024 * 1024 };
    const gateway = await gatewayWith({ limits });
    await broken(gateway, await begin(gateway, listOf(count)));
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

  test('is sent compressed to clients that accept gzip, and with the same text to the others', async () => {
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

  test('is the same beside rows, and in an event stream', async () => {
    const gateway = await gatewayWith();
    const plain = (await read(gateway)).body.toString();
    const beside = await read(gateway, {}, query.replace(/}$/, 'longCollection { edges { cursor } } }'));
    expect(beside.body.toString()).toBe(`${plain.slice(0, -2)},"longCollection":{"edges":[]}}}`);
    const stream = await read(gateway, { accept: 'text/event-stream' });
    expect(stream.body.toString()).toContain(`\ndata: ${plain}\n`);
  });

  test('is dropped when the client leaves, without an error in the log', async () => {
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
