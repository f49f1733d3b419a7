/**
 * Encrypted connections to the database, as providers want them: all that a gateway does goes over them, and a certificate of
 * another authority is refused.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startGateway } from '../../src/gateway.ts';
import type { Observation } from '../../src/shared/observation.ts';
import { runCommand } from '../commands/run-command.ts';
import { startEncryptedServer, startMeddler, tlsFixture } from '../support/encrypted-server.ts';
import { anonKey, operation, testConfig } from '../support/http.ts';

const authority = tlsFixture('authority.pem');

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

const { port, owner, login } = await startEncryptedServer(schema);

/** A gateway on the encrypted database. */
async function start(parameters: string, databaseUrl = login(parameters)) {
  const observations: Observation[] = [];
  const config = testConfig({
    databaseUrl,
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
  const { ask } = await start(`sslmode=require&sslrootcert=${tlsFixture('elsewhere.pem')}`);
  expect(await ask('{ encrypted }')).toMatchObject({ errors: [{ extensions: { code: 'UNAVAILABLE' } }] });
});

test('without sslmode the gateway asks a database on another machine for TLS', async () => {
  const isEncrypted = async (host: string) => {
    const { ask } = await start('', login('', host));
    return (await ask('{ encrypted }')) as unknown;
  };
  expect(await isEncrypted('0.0.0.0')).toEqual({ data: { encrypted: true } });
  expect(await isEncrypted('127.0.0.1')).toEqual({ data: { encrypted: false } });
  vi.stubEnv('PGSSLMODE', 'disable');
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(await isEncrypted('0.0.0.0')).toEqual({ data: { encrypted: false } });
});

test('prefer does without TLS where the server takes no such connections, or its handshake fails', async () => {
  const { rows: files } = await owner.query<{ file: string }>("select current_setting('hba_file') as file");
  const file = files[0]?.file ?? '';
  const kept = readFileSync(file);
  const reload = async (text: string | Uint8Array) => {
    writeFileSync(file, text);
    await owner.query('select pg_catalog.pg_reload_conf()');
  };
  onTestFinished(() => reload(kept));
  const refused = async () =>
    (await owner.query("select 1 from pg_hba_file_rules where type = 'hostnossl'")).rows.length;
  await reload('hostnossl all all all scram-sha-256\nlocal all all scram-sha-256\n');
  expect(await refused()).toBe(1);
  const plain = await start('', login('sslmode=prefer', '0.0.0.0'));
  await vi.waitFor(async () => expect(await plain.ask('{ encrypted }')).toEqual({ data: { encrypted: false } }));
  expect(plain.observations.filter(({ kind }) => kind === 'database_lost')).toEqual([]);
  await reload(kept);

  const meddler = await startMeddler(port);
  meddler.answer = 'cut';
  const cut = await start('', login('sslmode=prefer', '0.0.0.0', meddler.port));
  expect(await cut.ask('{ encrypted }')).toEqual({ data: { encrypted: false } });
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
  const { ask, observations } = await start(`sslmode=verify-full&sslrootcert=${tlsFixture('elsewhere.pem')}`);
  expect(await ask('{ encrypted }')).toMatchObject({ errors: [{ extensions: { code: 'UNAVAILABLE' } }] });
  expect(observations).toContainEqual({
    kind: 'database_lost',
    reason: expect.stringMatching(/^unable to verify the first certificate/),
  });
});

test('the command reports it, and does not wait for a server that it cannot trust', async () => {
  const database = login(`sslmode=verify-full&sslrootcert=${tlsFixture('elsewhere.pem')}`);
  const env = { DATABASE_URL: database, PGREFLECT_JWT_SECRET: 'a-secret-of-at-least-thirty-two-characters' };
  const { code, err } = await runCommand(['serve', '--port', '0'], { env });
  expect(code).toBe(1);
  expect(err).toContain('is not signed by a trusted authority');
});
