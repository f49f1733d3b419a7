/**
 * The record of changed tables (`init --live`) runs in every transaction that writes, and in every change of the schema: it runs no code
 * of a tenant with more rights than the tenant has, and tells nobody what others do.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { testGateway } from '../support/gateway.ts';
import { overEvents } from '../support/live.ts';
import { recordChanges } from '../support/live-record.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';

const mallory = `mallory_${randomBytes(4).toString('hex')}`;

const functions = [
  ['txid_current', '', 'int8'],
  ['pg_current_xact_id', '', 'xid8'],
  ['pg_current_snapshot', '', 'pg_snapshot'],
  ['clock_timestamp', '', 'timestamptz'],
  ['current_setting', 'text', 'text'],
  ['format', 'text, text', 'text'],
  ['format', 'text, variadic text[]', 'text'],
  ['to_regprocedure', 'text', 'regprocedure'],
  ['pg_event_trigger_ddl_commands', '', 'text'],
  ['num_nulls', 'variadic text[]', 'int4'],
] as const;
const operators = [
  ['%', 'int8', 'int8'],
  ['=', 'int8', 'int8'],
  ['=', 'text', 'text'],
  ['=', 'xid8', 'xid8'],
  ['<', 'xid8', 'xid8'],
  ['>=', 'xid8', 'xid8'],
  ['=', 'oid', 'oid'],
  ['<', 'timestamptz', 'timestamptz'],
  ['-', 'timestamptz', 'interval'],
  ['<>', 'text', 'text'],
] as const;

/** Notes who has run it. The function of an operator has its name spelled in letters. */
const plant = (
  name: string,
  args: string,
  result: string,
) => `create function evil.${name}(${args}) returns ${result} language plpgsql
  as $$ begin insert into public.captured values (current_user); return null; end $$;`;
const planted = [
  ...functions.map(([name, args, result]) => plant(name, args, result)),
  ...operators.map(([sign, left, right], index) => {
    const result = { '-': 'timestamptz', '%': 'int8' }[sign as string] ?? 'bool';
    const operator = `create operator evil.${sign} (leftarg = ${left}, rightarg = ${right}, function = evil.of_${index})`;
    return `${plant(`of_${index}`, `${left}, ${right}`, result)} ${operator};`;
  }),
].join('\n');

const database = await createDatabase(`
  create role ${mallory} login password 'test';
  grant create on schema public to ${mallory};
  create schema evil authorization ${mallory};
  create table note (id int primary key);
  create table shared (id int primary key);
  create table captured (who text);
  grant select, insert on note to anon, ${mallory};
  grant insert on captured to public;
`);
await recordChanges(database);

afterAll(async () => {
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  await admin.query(`drop owned by ${mallory} cascade; drop role ${mallory}`).finally(() => admin.end());
});

async function connect(to: TestDatabase = database): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: to.urlAs(mallory, 'test') });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

describe('a tenant', () => {
  test('whose functions and operators come first on the search path has none of them run by the record', async () => {
    const client = await connect();
    await client.query(planted);
    await client.query('set search_path = evil, pg_catalog, public');
    // Each thousandth transaction also prunes.
    await client.query(
      'do $$ begin for i in 1..2500 loop insert into public.note values (i); commit; end loop; end $$',
    );
    await client.query(`create table public.late (id int); create table public."x'; drop table public.note; --" (id int);
      create temporary table passing (id int); alter table public.late add other int; insert into public.late values (1, 1)`);
    expect(await database.query('select from pgreflect.live_mark')).not.toEqual([]);
    const made = await database.query<{ name: string }>(`select tgrelid::regclass::text as name from pg_trigger
      where tgname = 'pgreflect_live' and tgrelid::regclass::text ~ 'late|drop table'`);
    expect(made).toHaveLength(2);
    expect(await database.query('select from captured')).toEqual([]);
    // What was planted would have been noted.
    await client.query('select txid_current()');
    expect(await database.query('select who from captured')).toEqual([{ who: mallory }]);
  });

  test('neither reads, writes nor prunes the record, and makes no trigger that writes it', async () => {
    const client = await connect();
    await client.query('create table evil.own (id int)');
    for (const statement of [
      'select from pgreflect.live_change',
      'select from pgreflect.live_mark',
      'select from pgreflect.live_schema',
      'insert into pgreflect.live_change values (default, 1)',
      'delete from pgreflect.live_change',
      `insert into pgreflect.live_schema values ('evil')`,
      'select pgreflect.note_live_change()',
      'select pgreflect.prune_live_change()',
      'create function pgreflect.mine() returns int language sql return 1',
      'create trigger t after insert on evil.own for each statement execute function pgreflect.note_live_change()',
      'create trigger t after insert on public.note for each statement execute function pgreflect.note_live_change()',
      'drop trigger pgreflect_live on public.note',
      'alter table public.note disable trigger pgreflect_live',
    ])
      await expect(client.query(statement), statement).rejects.toThrow(/permission denied|must be owner/);
  });

  test('a tenant has rows in the record for what it writes alone', async () => {
    const client = await connect();
    await database.query('truncate pgreflect.live_change');
    await client.query(`select from public.note; create table evil.other (id int); insert into evil.other values (1)`);
    await client.query('begin; insert into public.note values (9001); rollback');
    await expect(client.query('delete from public.note')).rejects.toThrow('permission denied');
    const rows = async () => (await database.query('select from pgreflect.live_change')).length;
    expect(await rows()).toBe(0);
    await client.query('begin; insert into public.note values (9002); insert into public.note values (9003); commit');
    expect(await rows()).toBe(1);
  });
});

test('a record that a tenant has made is not read: its code does not run as the login of the gateway', async () => {
  const squatted = await createDatabase(`grant create on schema public to ${mallory}; create table captured (who text);
    create table note (id int primary key); grant select on note to anon; grant insert on captured to public;
    create schema pgreflect authorization ${mallory}`);
  const client = await connect(squatted);
  await client.query(`create function pgreflect.mine() returns bool language plpgsql as
      $$ begin insert into public.captured values (current_user); return true; end $$;
    create unlogged table pgreflect.live_change (xid xid8, rel oid);
    create function pgreflect.note_live_change() returns trigger language plpgsql security definer as $$ begin return null; end $$;
    grant usage on schema pgreflect to public; grant select, delete on pgreflect.live_change to public`);
  const gateway = await testGateway(squatted, { livePollMs: 20, liveIntervalMs: 50 });
  const heard = overEvents(gateway.url, { query: 'subscription { noteCollection { edges { node { id } } } }' });
  await heard.next();
  // As it might after the look at what is installed.
  await client.query(`alter table pgreflect.live_change rename to old;
    create view pgreflect.live_change as select xid, rel from pgreflect.old where pgreflect.mine();
    grant select on pgreflect.live_change to public; insert into pgreflect.old values ('1', 1)`);
  await squatted.query('insert into note values (1)');
  await heard.next();
  await vi.waitFor(() => expect(gateway.graphql.live.state().runs).toBeGreaterThan(1));
  expect(gateway.graphql.live.state()).toMatchObject({ isExact: false, exactGroups: 0 });
  expect(await squatted.query('select from captured')).toEqual([]);
  await expect(recordChanges(squatted)).rejects.toThrow('belongs to the role');
  await squatted.query(`drop owned by ${mallory} cascade`);
});
