/**
 * Live queries after `init --live` on a database that logical replication writes: the process that applies changes fires no trigger
 * for statements, so its tables are read at the interval, and the others after their changes.
 */
import { expect, test } from 'vitest';
import { startEmbedded, startOwnServer } from '../migrations/hosted-project.ts';
import { testGateway } from '../support/gateway.ts';
import { recordChanges } from '../support/live-record.ts';
import { connectTo } from '../support/own-database.ts';
import { defaultRoles } from '../support/usual-roles.ts';
import { both, last, live, open, soon } from './recorded.ts';

const server = await startOwnServer(() => startEmbedded({ wal_level: 'logical' }));
await server.query('postgres', defaultRoles);
for (const name of ['source', 'target']) await server.query('postgres', `create database ${name}`);
const [source, target] = [connectTo(server.urlAs('postgres', 'source')), connectTo(server.urlAs('postgres', 'target'))];

const tables = `
  create table note (id int primary key);
  create table entry (id int primary key) partition by range (id);
  create table entry_1 partition of entry for values from (1) to (100);
  create table own (id int primary key)`;
await source.query(`${tables}; insert into note values (1);
  create publication sent for table note, entry with (publish_via_partition_root = true)`);
// Within one server, a subscription that makes its slot itself would wait for its own end.
await source.query(`select pg_create_logical_replication_slot('sent', 'pgoutput')`);
await target.query(`comment on schema public is '@graphql({"inflect_names": true})'; ${tables};
  grant select on all tables in schema public to anon`);
await recordChanges(target);

test('a table that a subscription writes is read at the interval as long as there is the subscription, others after changes', async () => {
  const gateway = await testGateway(target, both);
  const [note, entry, partition, own] = [
    await open(gateway, 'note'),
    await open(gateway, 'entry'),
    await open(gateway, 'entry1'),
    await open(gateway, 'own'),
  ];
  await target.query(`create subscription received
    connection 'host=127.0.0.1 port=${new URL(source.url).port} dbname=source user=postgres password=test'
    publication sent with (create_slot = false, slot_name = sent)`);
  await last(note).toEqual([1]);
  await soon(() => expect(live(gateway).exactGroups).toBe(1));
  await target.query('truncate pgreflect.live_change');
  await source.query('insert into note values (2); delete from note where id = 1; insert into entry values (7)');
  await last(note).toEqual([2]);
  for (const heard of [entry, partition]) await last(heard).toEqual([7]);
  // Nothing of it was recorded.
  expect(await target.query('select from pgreflect.live_change')).toEqual([]);
  const { runs } = live(gateway);
  await target.query('insert into own values (1)');
  await last(own).toEqual([1]);
  expect(live(gateway).runs).toBeGreaterThan(runs);
  await target.query(
    'alter subscription received disable; alter subscription received set (slot_name = none); drop subscription received',
  );
  await soon(() => expect(live(gateway).exactGroups).toBe(4));
  await target.query('insert into note values (3)');
  await last(note).toEqual([2, 3]);
});
