/**
 * A tenant has `explain` or `check` run their code, which resets the role and has the rights of the operator's login. Both run code of
 * users only with a login that has no more rights than the gateway's. Checked is what the code could read or write.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { findSequencesBehind } from '../../src/check/check-sequences.ts';
import type { CheckScope } from '../../src/check/finding.ts';
import { runCommand, temporaryDirectory } from '../commands/run-command.ts';
import { usePool } from '../management/management.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';

// Roles belong to the whole server, so this file has its own.
const mark = randomBytes(4).toString('hex');
const nameOf = (kind: string) => `${kind}_${mark}`;
const names = ['owner', 'gate', 'reader', 'maker', 'granted', 'streamer', 'joiner'].map(nameOf);
const [owner, gate, reader, maker] = names as [string, string, string, string];
const [granted, streamer, joiner] = names.slice(4) as [string, string, string];
/** What the joiner may become: a role that may not log in, and reads all changes. */
const stream = nameOf('stream');
const api = ['anon', 'user', 'robot'].map((kind) => `${kind}_${mark}`) as [string, string, string];
const flags = ['--anon-role', api[0], '--authenticated-role', api[1], '--service-role', api[2]];
/** Written by the server, if the code runs as superuser. */
const file = join(tmpdir(), `pgreflect-${mark}`);

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase(`
    ${names.map((name) => `create role ${name} login password 'test';`).join('\n')}
    ${api.map((name) => `create role ${name};`).join(' ')}
    grant ${api.join(', ')} to ${names.join(', ')};
    create role ${stream} replication; grant ${stream} to ${joiner};
    alter role ${streamer} replication;
    alter role ${maker} createrole; grant pg_read_all_data to ${reader};
    create table secret (line text); insert into secret values ('of the owner');
    create table given (line text); grant select on given to ${granted};
    alter table secret owner to ${owner};
    create schema tenant; grant usage on schema tenant to ${api[0]};
    -- Sequences keep what was counted, whatever is rolled back.
    create sequence tenant.runs; create sequence tenant.read; create sequence tenant.writes;
    grant all on all sequences in schema tenant to public;
    create function tenant.spy() returns int language plpgsql immutable as $f$
    begin
      perform nextval('tenant.runs'), set_config('role', 'none', true);
      begin
        perform line from public.secret;
        perform nextval('tenant.read');
      exception when others then null; end;
      begin
        execute 'copy (select 1) to program ''touch ${file}''';
      exception when others then null; end;
      return 1;
    end $f$;
    create view tenant.v as select id, tenant.spy() as n from generate_series(1, 3) id where tenant.spy() = 1;
    comment on view tenant.v is '@graphql({"primary_key_columns": ["id"]})';
    grant select on tenant.v to ${api[0]}`);
});
afterAll(async () => {
  const roles = [...names, stream, ...api].join(', ');
  await database.query(`drop owned by ${roles} cascade; drop role ${roles}`);
});

/** How often the code ran, and how often it has read the owner's table. */
async function counted(): Promise<{ readonly runs: number; readonly read: number }> {
  const [row] = await database.query<{ runs: string | null; read: string | null }>(
    `select pg_sequence_last_value('tenant.runs') as runs, pg_sequence_last_value('tenant.read') as read`,
  );
  return { runs: Number(row?.runs), read: Number(row?.read) };
}

async function connect(role: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.urlAs(role, 'test') });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

function run(url: string, ...args: readonly string[]) {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'v.graphql'), '{ vCollection { edges { node { id } } } }');
  return runCommand([...args, ...flags, '--schemas', 'tenant'], { directory, env: { DATABASE_URL: url } });
}

const urlOf = (name: string) => (name === 'superuser' ? database.url : database.urlAs(name, 'test'));
const others: readonly (readonly [string, RegExp])[] = [
  ['superuser', /is a superuser/],
  [owner, /owns table .*secret/],
  [reader, /may become "pg_read_all_data"/],
  [maker, /may create roles/],
  [streamer, /may read all changes by replication/],
  [joiner, new RegExp(`may become "${stream}", which may read all changes`)],
  [granted, /has rights on table .*given/],
];

describe.each(others)('with the login %s', (name, reason) => {
  test.each([[[]], [['--analyze']]])('`explain` prints the SQL alone, and why %j', async (more) => {
    const before = await counted();
    const { code, out, err } = await run(urlOf(name), 'explain', 'v.graphql', ...more);
    expect(await counted()).toEqual(before);
    expect(existsSync(file)).toBe(false);
    expect([code, err]).toEqual([0, expect.stringMatching(reason)]);
    expect(err).toContain("Connect as the gateway's login: --database-url");
    expect(out).toContain('execute operation;');
  });

  test('`check` leaves the keys of views unmeasured, and says why', async () => {
    const before = await counted();
    const { out } = await run(urlOf(name), 'check', '--only', 'key_not_measured');
    expect(await counted()).toEqual(before);
    expect(existsSync(file)).toBe(false);
    expect(out).toMatch(reason);
  });
});

test('with the login of a gateway both run it, and it can do no more than a caller’s function', async () => {
  const { err, out } = await run(urlOf(gate), 'explain', 'v.graphql');
  expect([err, out]).toEqual(['', expect.stringMatching(/^-- .*Scan/m)]);
  expect((await run(urlOf(gate), 'check', '--only', 'key_not_measured,key_not_unique')).out).not.toContain('left out');
  const { runs, read } = await counted();
  expect(runs).toBeGreaterThan(0);
  expect(read).toBe(0);
  expect(existsSync(file)).toBe(false);
});

test('`check` reads no view that its owner puts in the place of a table while it runs', async () => {
  await database.query(
    `create schema swapped authorization ${streamer}; grant usage on schema swapped, tenant to ${api[2]}`,
  );
  const tenant = await connect(streamer);
  await tenant.query(
    `create table swapped.t (id serial primary key); grant all on swapped.t, swapped.t_id_seq to ${api[2]}`,
  );
  const before = await counted();
  const [anon, user, service] = api;
  const check = (url: string) =>
    usePool({ ...database, url }, (pool) =>
      pool.transaction(async (tx) => {
        const query: typeof tx.query = async (text, values) => {
          const rows = await tx.query(text, values);
          // The list has been made.
          if (text.includes('pg_sequence') && rows.length > 0)
            await tenant.query(`alter table swapped.t rename to was;
              create view swapped.t as select id from swapped.was where tenant.spy() = 1; grant select on swapped.t to ${service}`);
          return rows;
        };
        const scope = { tx: { ...tx, query }, schemas: ['swapped'], roles: [anon, user], serviceRole: service };
        return findSequencesBehind(scope as unknown as CheckScope);
      }),
    );
  const found = await check(database.url);
  expect(await counted()).toEqual(before);
  expect(existsSync(file)).toBe(false);
  expect(found).toMatchObject([{ check: 'sequence_behind', severity: 'note' }]);
});

test('`check` names each login that may act as an API role, and leaves it to the operator', async () => {
  const { out } = await run(urlOf(gate), 'check', '--only', 'role_member', '--format', 'json');
  const { findings } = JSON.parse(out) as { findings: { object: string; message: string; fix: string | null }[] };
  expect(findings.map(({ object }) => object)).toEqual([granted, joiner, maker, owner, reader, streamer]);
  expect(findings[0]).toMatchObject({
    message: `The login "${granted}" may act as ${[...api]
      .sort()
      .map((name) => `"${name}"`)
      .join(', ')}: it is a member or an administrator, itself or through other roles.`,
    fix: `-- Unless it is meant to:\n-- revoke ${[...api].sort().join(', ')} from ${granted};`,
  });
});
