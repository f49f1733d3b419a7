/** The whole gateway: start, requests of several callers, reload, an absent database, stop. */
import { request as httpRequest } from 'node:http';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { startGateway } from '../../src/gateway.ts';
import { holdFunction, takeLock, untilHeld } from '../support/busy.ts';
import { type TestGateway, testGateway } from '../support/gateway.ts';
import { anonKey, operation, serviceKey, testConfig, token } from '../support/http.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { atEnd } from '../support/when-over.ts';

let database: TestDatabase;
/** Of the tests that need no options of their own. */
let gateway: TestGateway;
beforeAll(async () => {
  database = await createDatabase(`
    create table note (id bigint primary key, owner text not null, body text not null);
    insert into note select n, case n % 2 when 0 then 'ann' else 'bob' end, 'note ' || n from generate_series(1, 4) n;
    alter table note enable row level security;
    create policy own on note for select to authenticated
      using (owner = current_setting('request.jwt.claims')::json ->> 'sub');
    create policy everyone on note for select to anon using (id = 1);
    grant usage on schema public to anon, authenticated, service_role;
    grant select on note to anon, authenticated, service_role;
    create table big (id bigint primary key);
    insert into big values (9007199254740993), (9223372036854775807);
    grant select on big to anon;
    ${holdFunction};
  `);
  gateway = await testGateway(database, {}, atEnd);
});

const ids = '{ noteCollection(orderBy: [{id: AscNullsLast}]) { edges { node { id } } } }';
const idsOf = (body: { data: { noteCollection: { edges: { node: { id: string } }[] } } }) =>
  body.data.noteCollection.edges.map(({ node }) => Number(node.id));

test('every caller sees what the policies of its role allow', async () => {
  const { ask } = gateway;
  expect(idsOf((await ask(ids)).body)).toEqual([1]);
  expect(idsOf((await ask(ids, { key: serviceKey })).body)).toEqual([1, 2, 3, 4]);
  const bearer = async (sub: string) => ({ authorization: `Bearer ${await token({ role: 'authenticated', sub })}` });
  expect(idsOf((await ask(ids, { headers: await bearer('ann') })).body)).toEqual([2, 4]);
  expect(idsOf((await ask(ids, { headers: await bearer('bob') })).body)).toEqual([1, 3]);
});

test.each([
  ['application/json', 'application/json'],
  ['application/json', 'application/graphql-response+json'],
  ['application/graphql+json', 'application/json'],
  ['application/graphql+json', 'application/graphql-response+json'],
])('both handlers give the same text (%s, %s)', async (contentType, accept) => {
  const ask = async (query: string) => {
    const response = await fetch(`${gateway.url}/graphql/v1`, {
      method: 'POST',
      headers: { apikey: anonKey, 'content-type': contentType, accept },
      body: operation(query),
    });
    return [response.status, await response.text()] as const;
  };
  expect(await ask('{ noteCollection { edges { node { body } } } }')).toEqual([
    200,
    '{"data":{"noteCollection":{"edges":[{"node":{"body":"note 1"}}]}}}',
  ]);
  const [status, text] = await ask('{ nothing }');
  expect(status).toBe(accept === 'application/json' ? 200 : 400);
  expect(JSON.parse(text)).toMatchObject({ errors: [{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }] });
});

test('an integer that JavaScript cannot hold reaches the database unchanged', async () => {
  const response = await fetch(`${gateway.url}/graphql/v1`, {
    method: 'POST',
    headers: { apikey: anonKey, 'content-type': 'application/json' },
    body: `{"query":"query ($id: BigInt) { bigCollection(filter: {id: {eq: $id}}) { edges { node { id } } } }","variables":{"id":9007199254740993}}`,
  });
  expect(await response.text()).toBe('{"data":{"bigCollection":{"edges":[{"node":{"id":"9007199254740993"}}]}}}');
});

test('a role that the login role may not set is 403, one that does not exist too', async () => {
  await database.query(`do $$ begin
    if not exists (select from pg_roles where rolname = 'http_stranger') then create role http_stranger; end if; end $$;
    grant usage on schema public to http_stranger; grant select on note to http_stranger`);
  const { ask } = await testGateway(database, { allowedRoles: '*' });
  for (const role of ['http_stranger', 'http_nobody']) {
    const reply = await ask(ids, { headers: { authorization: `Bearer ${await token({ role, sub: 'x' })}` } });
    expect([reply.status, reply.body.errors?.[0]?.extensions.code]).toEqual([403, 'ROLE_NOT_ALLOWED']);
  }
});

test('a change of the schema is in answers after a reload', async () => {
  await database.query('create table added (id int primary key); grant select on added to anon');
  await gateway.reload();
  expect((await gateway.ask('{ addedCollection { edges { node { id } } } }')).body).toEqual({
    data: { addedCollection: { edges: [] } },
  });
});

test("notify pgreflect, 'reload' reloads", async () => {
  await database.query('create table told (id int primary key); grant select on told to anon');
  await vi.waitFor(async () => {
    // Again, as long as nobody may listen yet.
    await database.query("notify pgreflect, 'reload'");
    expect((await gateway.ask('{ toldCollection { edges { node { id } } } }')).body.errors).toBeUndefined();
  });
});

test('a client that goes away cancels its statement', async () => {
  await takeLock(database, 1);
  const client = httpRequest(`${gateway.url}/graphql/v1`, {
    method: 'POST',
    headers: { apikey: serviceKey, 'content-type': 'application/json' },
  });
  client.on('error', () => {});
  client.end(operation('{ hold(lock: 1) }'));
  await untilHeld(database, 1);
  client.destroy();
  await untilHeld(database, 0);
});

/** A way to a database that can be cut and joined again. */
async function road(url: string): Promise<{ url: string; cut: () => Promise<void>; join: () => Promise<void> }> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let server: Server;
  let port = 0;
  const join = async () => {
    server = createServer((client) => {
      const upstream = createConnection(Number(target.port), target.hostname);
      for (const socket of [client, upstream]) {
        sockets.add(socket);
        socket
          .on('error', () => {})
          .on('close', () => {
            client.destroy();
            upstream.destroy();
            sockets.delete(socket);
          });
      }
      client.pipe(upstream).pipe(client);
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    port = (server.address() as { port: number }).port;
  };
  const cut = async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await join();
  onTestFinished(cut);
  const through = new URL(url);
  through.port = String(port);
  return { url: through.href, cut, join };
}

test('while the database is away requests get 503 at once, and they are answered again when it is back', async () => {
  const { url, cut, join } = await road(database.urlAs('authenticator', 'test'));
  const gateway = await testGateway(database, { databaseUrl: url, schemaPollMs: 200 });
  const readiness = async () => (await fetch(`${gateway.url}/ready`)).status;
  expect([idsOf((await gateway.ask(ids)).body), await readiness()]).toEqual([[1], 200]);
  await cut();
  const away = await gateway.ask(ids);
  expect([away.status, away.headers.get('retry-after'), away.body.errors[0].extensions.code]).toEqual([
    503,
    '1',
    'UNAVAILABLE',
  ]);
  await vi.waitFor(async () => expect(await readiness()).toBe(503));
  await join();
  await vi.waitFor(async () => expect([(await gateway.ask(ids)).status, await readiness()]).toEqual([200, 200]));
  await vi.waitFor(() => {
    const kinds = gateway.observations.map(({ kind }) => kind).filter((kind) => kind.startsWith('database'));
    expect(kinds).toEqual(['database_lost', 'database_back']);
  }, 8000);
});

test('a gateway starts while the database is away, says so, and answers when it is there', async () => {
  const { url, cut, join } = await road(database.urlAs('authenticator', 'test'));
  await cut();
  const gateway = await testGateway(database, { databaseUrl: url, schemaPollMs: 200 });
  const reply = await gateway.ask(ids);
  expect([reply.status, reply.body.errors[0].extensions.code]).toEqual([503, 'UNAVAILABLE']);
  expect((await fetch(`${gateway.url}/ready`)).status).toBe(503);
  expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
  await join();
  await vi.waitFor(async () => expect((await gateway.ask(ids)).status).toBe(200));
});

test('a wrong password ends the start with an error that does not show it', async () => {
  const config = testConfig({
    databaseUrl: database.urlAs('authenticator', 'wrong-password'),
    port: 0,
    schemas: ['public'],
  });
  const problem = await startGateway(config, { observe: () => {} }).catch((error: Error) => error);
  expect(problem).toBeInstanceOf(Error);
  expect(JSON.stringify([String(problem), problem])).not.toContain('wrong-password');
});

test('a port in use ends the start and closes what was opened', async () => {
  const config = testConfig({
    databaseUrl: database.urlAs('authenticator', 'test'),
    port: gateway.port,
    schemas: ['public'],
  });
  await expect(startGateway(config, { observe: () => {} })).rejects.toMatchObject({ code: 'EADDRINUSE' });
});

test('stop lets requests in flight finish and refuses new ones', async () => {
  const own = await testGateway(database);
  const release = await takeLock(database, 1);
  const answer = own.ask('{ hold(lock: 1) }', { key: serviceKey });
  await untilHeld(database, 1);
  const stopped = own.stop();
  const health = () => fetch(`${own.url}/health`, { headers: { connection: 'close' } });
  await vi.waitFor(() => expect(health()).rejects.toThrow());
  await release();
  expect((await answer).body).toEqual({ data: { hold: 'held' } });
  await stopped;
});

test('stop cancels what is still running after the time to drain', async () => {
  const gateway = await testGateway(database, { drainTimeoutMs: 300 });
  await takeLock(database, 1);
  const answer = gateway.ask('{ hold(lock: 1) }', { key: serviceKey }).catch(() => 'cut');
  await untilHeld(database, 1);
  await gateway.stop();
  expect(await answer).toBe('cut');
});
