/**
 * A database that is away at the start, goes during requests, comes back, or loses a table under a compiled statement: every
 * request gets a clear answer, nothing is half written, and nobody has to restart the gateway.
 */
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startGateway } from '../../src/gateway.ts';
import { findFreePort } from '../support/free-port.ts';
import { testGateway } from '../support/gateway.ts';
import { anonKey, operation, testConfig } from '../support/http.ts';
import { startServer } from '../support/own-server.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { scratch } from '../support/scratch.ts';

const schema = `
  comment on schema public is '@graphql({"inflect_names": true})';
  create table item (id int primary key, body text);
  create table other (id int primary key);
  insert into item values (1, 'first');
  create function slowly(id int) returns int volatile language sql as
    $$ insert into item values (id, 'slow') ; select pg_sleep(20); select 1 $$;
  grant usage on schema public to anon;
  grant select, insert on item, other to anon;
`;
const items = '{ itemCollection { edges { node { id } } } }';

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  readonly body: any;
}

async function send(url: string, query: string): Promise<Answer> {
  const response = await fetch(`${url}/graphql/v1`, {
    method: 'POST',
    headers: { apikey: anonKey, 'content-type': 'application/json' },
    body: operation(query),
  });
  return { status: response.status, retryAfter: response.headers.get('retry-after'), body: await response.json() };
}

test('a server that is not there yet, stops under running requests and starts again', async () => {
  const folder = await mkdtemp(join(scratch, 'pgreflect-outage-'));
  await chmod(folder, 0o755);
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const port = await findFreePort();
  const options = {
    dataDirectory: join(folder, 'data'),
    persistent: true,
    port,
    settings: { fsync: 'off' },
  };
  const login = `postgresql://authenticator:test@127.0.0.1:${port}/postgres`;
  const codes: unknown[] = [];
  const config = testConfig({ databaseUrl: login, schemas: ['public'], port: 0, schemaPollMs: 300 });
  const gateway = await startGateway(config, {
    observe: (observation) => void (observation.kind === 'masked_error' && codes.push(observation)),
  });
  onTestFinished(() => gateway.stop());

  // Away at the start.
  expect(await send(gateway.url, items)).toMatchObject({
    status: 503,
    retryAfter: '1',
    body: { errors: [{ extensions: { code: 'UNAVAILABLE' } }] },
  });
  const first = await startServer(options);
  const admin = new pg.Client({ connectionString: first.url });
  admin.on('error', () => {});
  await admin.connect();
  await admin.query(`create role anon; create role authenticated; create role service_role bypassrls;
    create role authenticator login noinherit password 'test'; grant anon, authenticated, service_role to authenticator; ${schema}`);
  await vi.waitFor(async () => expect((await send(gateway.url, items)).status).toBe(200));

  // Away under requests that read and write.
  const running = [send(gateway.url, 'mutation { slowly(id: 77) }'), send(gateway.url, 'mutation { slowly(id: 78) }')];
  await vi.waitFor(async () => {
    const { rows } = await admin.query(
      "select count(*)::int as n from pg_stat_activity where query ~ 'slowly' and pid <> pg_backend_pid()",
    );
    expect(rows[0].n).toBe(2);
  });
  await first.stop();
  for (const { status, body } of await Promise.all(running)) {
    expect(status).toBe(503);
    expect(body.errors).toHaveLength(1);
    expect(body.errors[0].message).toContain('may or may not have been committed');
  }
  for (let round = 0; round < 5; round++) {
    expect((await send(gateway.url, items)).body.errors[0].extensions.code).toBe('UNAVAILABLE');
  }
  expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
  expect((await fetch(`${gateway.url}/ready`)).status).toBe(503);

  // Back again, and nothing was half written.
  const second = await startServer(options);
  onTestFinished(() => second.stop());
  await vi.waitFor(async () => expect((await send(gateway.url, items)).status).toBe(200));
  expect((await send(gateway.url, items)).body.data.itemCollection.edges).toEqual([{ node: { id: 1 } }]);
  await vi.waitFor(async () => expect((await fetch(`${gateway.url}/ready`)).status).toBe(200));
  expect(codes).toEqual([]);
  await gateway.stop();
});

test('connections that an operator ends one after the other are replaced, and no read fails', async () => {
  const database = await createDatabase(schema);
  const gateway = await testGateway(database, { schemaPollMs: 600_000, poolSize: 4 });
  let done = false;
  const answered = [0, 0];
  const killer = (async () => {
    for (let round = 0; round < 12; round++) {
      await database.query(`select pg_terminate_backend(pid) from (select pid from pg_stat_activity
        where datname = current_database() and application_name = 'pgreflect' order by random() limit 1) x`);
      // One after the other: nobody still waits for what the last one has to do with.
      const before = [...answered];
      await vi.waitFor(
        () => expect(answered.every((count, index) => count > (before[index] ?? 0) + 1)).toBe(true),
        5000,
      );
      await wait(50);
    }
  })().finally(() => {
    done = true;
  });
  const wrong: unknown[] = [];
  const reader = async (index: number) => {
    while (!done) {
      const { body } = await gateway.ask(items);
      if (body.errors) wrong.push(body.errors);
      answered[index] = (answered[index] ?? 0) + 1;
    }
  };
  await Promise.all([killer, reader(0), reader(1)]);
  // A read is repeated once on another connection.
  expect(wrong).toEqual([]);
  expect((await gateway.ask(items)).body.data.itemCollection.edges).toHaveLength(1);
});

test.each(['with', 'without'])('a table dropped after compiling gives a clear error, %s the trigger', async (watch) => {
  const database: TestDatabase = await createDatabase(schema);
  if (watch === 'with') {
    await database.query(readFileSync(new URL('../../sql/watch.sql', import.meta.url), 'utf8'));
    await database.query(
      'grant usage on schema pgreflect to authenticator; grant select on pgreflect.catalog_change to authenticator',
    );
  }
  const gateway = await testGateway(database, { schemaPollMs: 600_000, poolSize: 1 });
  for (let round = 0; round < 3; round++) expect((await gateway.ask(items)).body.errors).toBeUndefined();
  await database.query('drop table item cascade');
  for (let round = 0; round < 2; round++) {
    const { status, body } = await gateway.ask(items);
    expect(status).toBe(200);
    expect(body.errors.map((error: { extensions: { code: string } }) => error.extensions.code)).toEqual([
      'GRAPHQL_VALIDATION_FAILED',
    ]);
    expect(JSON.stringify(body)).not.toMatch(/select |relation/);
  }
  expect((await gateway.ask('{ otherCollection { edges { node { id } } } }')).body).toEqual({
    data: { otherCollection: { edges: [] } },
  });
});
