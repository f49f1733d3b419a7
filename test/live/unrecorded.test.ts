/** Live queries after `init --live`: tables that come later are recorded, and what cannot be recorded is read at the interval. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { testGateway } from '../support/gateway.ts';
import { recordChanges } from '../support/live-record.ts';
import { both, createRecorded, last, live, none, open, soon } from './recorded.ts';

const database = await createRecorded();
const started: (() => unknown)[] = [];
const later = (stop: () => unknown) => void started.push(stop);
const quick = await testGateway(database, both, later);
afterAll(() => Promise.all(started.map((stop) => stop())));

describe('tables that come later', () => {
  test('a table, a partition and the table of a query have the trigger, under any name', async () => {
    await none(quick);
    await database.query(`create table "la""ter'; --" (id int primary key); create table late as select 1 as id;
      create table entry_9 partition of entry for values from (900) to (1000);
      create temporary table passing (id int); create table hidden.apart (id int);
      alter table late add primary key (id); grant select on "la""ter'; --", late to anon`);
    const names = await database.query<{ name: string }>(`select tgrelid::regclass::text as name from pg_trigger
      where tgname = 'pgreflect_live' and tgenabled = 'A' and tgrelid::regclass::text ~ '^"la|^late|entry_9|passing|apart' order by 1`);
    expect(names.map(({ name }) => name)).toEqual([`"la""ter'; --"`, 'entry_9', 'late']);
    const heard = await open(quick, 'late');
    await database.query('insert into late values (2)');
    await last(heard).toEqual([1, 2]);
  });

  test('a table that others may not alter is created all the same, and read at the interval', async () => {
    await none(quick);
    const taken =
      'create function public.own_trigger() returns trigger language plpgsql as $$ begin return null; end $$';
    await database.query(`${taken}; create schema apart create table made (id int primary key)`);
    await database.query(`create table public.taken (id int primary key); drop trigger pgreflect_live on public.taken;
      create trigger pgreflect_live after insert on public.taken for each statement execute function public.own_trigger();
      alter table public.taken add note text; grant select on public.taken to anon`);
    const heard = await open(quick, 'taken', 'interval');
    await database.query('insert into public.taken values (1)');
    await last(heard).toEqual([1]);
    await database.query('drop table public.taken');
  });
});

describe('what is not recorded', () => {
  test.each([
    ['drop trigger pgreflect_live on dropped', 'is dropped'],
    ['alter table dropped disable trigger pgreflect_live', 'is disabled'],
    ['alter table dropped enable trigger pgreflect_live', 'leaves writes of replication out'],
  ])('%s: a table whose trigger %s later is read at the interval', async (statement) => {
    await none(quick);
    await database.query(`truncate dropped`);
    const heard = await open(quick, 'dropped');
    onTestFinished(() => recordChanges(database));
    await database.query(statement);
    await soon(() => expect(live(quick).exactGroups).toBe(0));
    await database.query('insert into dropped values (1)');
    await last(heard).toEqual([1]);
  });

  test('a table of a function that has no trigger is read at the interval', async () => {
    await none(quick);
    await database.query('drop trigger pgreflect_live on hidden.member');
    const heard = await open(quick, 'secret', 'interval');
    onTestFinished(async () => void (await database.query('delete from hidden.member')));
    await database.query(`insert into hidden.member values ('x')`);
    await last(heard).toEqual([1]);
  });

  test('a query that writes runs at the interval, and not because of its own writes', async () => {
    await none(quick);
    await database.query(`create table audit (id int primary key generated always as identity, at timestamptz default now());
      create table watched (id int primary key); insert into watched values (1); alter table watched enable row level security;
      create function noted() returns bool language plpgsql volatile security definer as 'begin insert into public.audit default values; return true; end';
      create policy noted on watched using (noted()); grant select on watched to anon`);
    const { runs } = live(quick);
    await open(quick, 'watched', 'interval');
    await delay(1500);
    expect(live(quick).runs - runs).toBeLessThan(9);
  });

  test('rows of a foreign table come at the interval, though nothing in the database has changed', async (context) => {
    const [found] = await database.query(`select from pg_available_extensions where name = 'file_fdw'`);
    if (found === undefined) return context.skip('the server has no file_fdw');
    await none(quick);
    const file = `/tmp/pgreflect-${database.name}.csv`;
    await database.query(`copy (select 1) to '${file}' (format csv)`);
    onTestFinished(async () => void (await database.query(`copy (select) to program 'rm ${file}'`)));
    await database.query(`create extension file_fdw; create server files foreign data wrapper file_fdw;
      create foreign table far (id int) server files options (filename '${file}', format 'csv');
      comment on foreign table far is '@graphql({"primary_key_columns": ["id"]})'; grant select on far to anon`);
    const heard = await open(quick, 'far', 'interval');
    await database.query(`copy (select 2) to '${file}' (format csv)`);
    await last(heard).toEqual([2]);
    return undefined;
  });
});

test('rows of the record are deleted a minute after all could see them, and not before', async () => {
  await database.query(`truncate pgreflect.live_change, pgreflect.live_mark; insert into unrelated values (100)`);
  const count = async () => (await database.query('select from pgreflect.live_change')).length;
  const newest = '(select xid from pgreflect.live_change order by xid desc limit 1)';
  // A transaction of any database that began before the row holds marks back.
  await vi.waitFor(async () => {
    const ask = `select pgreflect.prune_live_change(); select from pgreflect.live_mark where horizon > ${newest}`;
    expect(await database.query(ask)).not.toEqual([]);
  }, 60_000);
  expect(await count()).toBe(1);
  await database.query('insert into unrelated values (101); select pgreflect.prune_live_change()');
  expect(await count()).toBe(2);
  // All marks that were set before the second row, none of which is later than it.
  await database.query(`update pgreflect.live_mark set at = at - interval '61 seconds' where horizon <= ${newest};
    select pgreflect.prune_live_change()`);
  expect(await count()).toBe(1);
});
