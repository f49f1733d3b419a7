/**
 * Encrypted connections to the database, as providers want them: all that a gateway does goes over them, and a certificate of
 * another authority is refused.
 */
import { chmodSync, chownSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { startGateway } from '../../src/gateway.ts';
import { startEmbeddedServer } from '../../src/postgres/embedded/embedded-server.ts';
import { findServerUser } from '../../src/postgres/embedded/server-user.ts';
import type { Observation } from '../../src/shared/observation.ts';
import { runProcess } from '../commands/run-command.ts';
import { anonKey, operation, testConfig } from '../support/http.ts';
import { usualRoles } from '../support/usual-roles.ts';
import { atEnd } from '../support/when-over.ts';

/** A certificate for `127.0.0.1`, signed by an authority that only tests trust. */
const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url));
const authority = fixture('authority.pem');

const rows = 2500;
const schema = `
  comment on schema public is '@graphql({"inflect_names": true, "max_rows": ${rows}})';
  create table item (id int primary key, body text);
  insert into item select n, repeat(chr(33 + n % 90), n % 300) from generate_series(1, ${rows}) as n;
  create table visit (guest int primary key);
  create function encrypted() returns boolean stable language sql security definer
    as 'select ssl from pg_catalog.pg_stat_ssl where pid = pg_catalog.pg_backend_pid()';
  create function nap() returns text volatile language sql as $$ select 'slept' from (select pg_catalog.pg_sleep(60)) nap $$;
  grant select on item to anon;
  grant select, insert on visit to anon;
`;

let login: (parameters: string) => string;
let owner: pg.Client;
beforeAll(async () => {
  const directory = mkdtempSync(join(tmpdir(), 'pgreflect-encrypted-'));
  chmodSync(directory, 0o755);
  atEnd(() => rmSync(directory, { recursive: true }));
  const certificate = join(directory, 'server.pem');
  const key = join(directory, 'server-key.pem');
  copyFileSync(fixture('server.pem'), certificate);
  copyFileSync(fixture('server-key.pem'), key);
  chmodSync(key, 0o600);
  const user = await findServerUser();
  if (user !== null) chownSync(key, user.uid, user.gid);
  const server = await startEmbeddedServer({
    dataDirectory: join(directory, 'data'),
    password: 'test',
    persistent: false,
    settings: { fsync: 'off', ssl: 'on', ssl_cert_file: certificate, ssl_key_file: key },
  });
  atEnd(() => server.stop());
  login = (parameters) => `postgresql://authenticator:test@127.0.0.1:${server.port}/postgres?${parameters}`;
  owner = new pg.Client({ connectionString: server.url });
  await owner.connect();
  atEnd(() => owner.end());
  await owner.query(usualRoles);
  await owner.query(schema);
});

/** A gateway on the encrypted database. */
async function start(parameters: string) {
  const observations: Observation[] = [];
  const config = testConfig({
    databaseUrl: login(parameters),
    schemas: ['public'],
    port: 0,
    poolSize: 2,
    poolWaitMs: 30_000,
  });
  const gateway = await startGateway(config, { observe: (observation) => void observations.push(observation) });
  onTestFinished(() => gateway.stop());
  const ask = async (query: string, signal: AbortSignal | null = null) => {
    const response = await fetch(`${gateway.url}/graphql/v1`, {
      method: 'POST',
      headers: { apikey: anonKey, 'content-type': 'application/json' },
      body: operation(query),
      signal,
    });
    return response.json();
  };
  return { ask, observations };
}

test('every connection of a gateway is encrypted, and short and long answers come as without', async () => {
  const { ask } = await start(`sslmode=verify-full&sslrootcert=${authority}`);
  expect(await ask('{ encrypted }')).toEqual({ data: { encrypted: true } });
  const nodes = Array.from({ length: rows }, (_, index) => ({
    node: { id: index + 1, body: String.fromCharCode(33 + ((index + 1) % 90)).repeat((index + 1) % 300) },
  }));
  const list = `{ itemCollection(first: ${rows}) { edges { node { id body } } } }`;
  const some = Array.from({ length: 20 }, (_, index) => index + 1);
  // Long answers and those of shared flights at once, over two connections.
  const [lists, single, visits] = await Promise.all([
    Promise.all([ask(list), ask(list), ask(list)]),
    Promise.all(some.map((id) => ask(`{ itemByPk(id: ${id}) { id } }`))),
    Promise.all(
      some.map((guest) =>
        ask(`mutation { insertIntoVisitCollection(objects: [{guest: ${guest}}]) { affectedCount } }`),
      ),
    ),
  ]);
  for (const answer of lists) expect(answer).toEqual({ data: { itemCollection: { edges: nodes } } });
  expect(single).toEqual(some.map((id) => ({ data: { itemByPk: { id } } })));
  expect(visits).toEqual(some.map(() => ({ data: { insertIntoVisitCollection: { affectedCount: 1 } } })));
  const plain =
    await owner.query(`select application_name from pg_catalog.pg_stat_activity natural join pg_catalog.pg_stat_ssl
    where usename = 'authenticator' and not ssl`);
  expect(plain.rows).toEqual([]);
});

test('sslmode is what libpq means by it: encrypted without a look at the certificate, until one is named', async () => {
  for (const mode of ['allow', 'prefer', 'require']) {
    const { ask, observations } = await start(`sslmode=${mode}`);
    expect(await ask('{ encrypted }')).toEqual({ data: { encrypted: true } });
    expect(observations.filter(({ kind }) => kind === 'database_lost')).toEqual([]);
  }
  const { ask } = await start(`sslmode=require&sslrootcert=${fixture('elsewhere.pem')}`);
  expect(await ask('{ encrypted }')).toMatchObject({ errors: [{ extensions: { code: 'UNAVAILABLE' } }] });
});

test('a client that goes away cancels its statement', async () => {
  const { ask } = await start(`sslmode=verify-full&sslrootcert=${authority}`);
  const running = async () =>
    (await owner.query("select 1 from pg_catalog.pg_stat_activity where state = 'active' and wait_event = 'PgSleep'"))
      .rows.length;
  const client = new AbortController();
  const asked = ask('mutation { nap }', client.signal);
  await vi.waitFor(async () => expect(await running()).toBe(1));
  client.abort();
  await expect(asked).rejects.toThrow('abort');
  await vi.waitFor(async () => expect(await running()).toBe(0));
});

test('a certificate that the named authority has not signed is refused, and the log says why', async () => {
  const { ask, observations } = await start(`sslmode=verify-full&sslrootcert=${fixture('elsewhere.pem')}`);
  expect(await ask('{ encrypted }')).toMatchObject({ errors: [{ extensions: { code: 'UNAVAILABLE' } }] });
  expect(observations).toContainEqual({
    kind: 'database_lost',
    reason: expect.stringMatching(/^unable to verify the first certificate/),
  });
});

test('the command says so, and does not wait for a server that it will never trust', async () => {
  const database = login(`sslmode=verify-full&sslrootcert=${fixture('elsewhere.pem')}`);
  const env = { DATABASE_URL: database, PGREFLECT_JWT_SECRET: 'a-secret-of-at-least-thirty-two-characters' };
  const { code, err } = await runProcess(['serve', '--port', '0'], { env });
  expect(code).toBe(1);
  expect(err).toContain('is not signed by a trusted authority');
});
