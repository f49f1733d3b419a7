/**
 * What a reload keeps of the schemas that were built before, and what it lets go.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const database = await createDatabase(`
  create table seen_by_both (id int primary key);
  create table seen_by_one (id int primary key);
  grant select on seen_by_both to anon, authenticated;
  grant select on seen_by_one to authenticated;
`);

/** A comment alone is not part of the schema. */
const describe = (table: string) => `comment on table ${table} is '@graphql({"description": "changed"})'`;

test('after a reload, a role whose schema is the same keeps its compiled operations; another role gets a new schema', async () => {
  const execution = await startExecution(database);
  const before = { anon: await execution.role('anon'), authenticated: await execution.role('authenticated') };
  await database.query(describe('seen_by_one'));
  await execution.reload();
  expect((await execution.role('anon')).shared).toBe(before.anon.shared);
  expect((await execution.role('authenticated')).shared).not.toBe(before.authenticated.shared);
});

test('after a change, tables that have not changed are the same objects; the changed one and new ones are made anew', async () => {
  const execution = await startExecution(database);
  const tablesOf = async () => {
    const { tables } = (await execution.role('authenticated')).shared.model;
    return new Map([...tables.values()].map((table) => [table.name, table]));
  };
  const before = await tablesOf();
  await database.query('alter table seen_by_one add column more int; create table third (id int primary key)');
  await database.query('grant select on third to authenticated');
  await execution.compare();
  const after = await tablesOf();
  expect(after.get('seen_by_both')).toBe(before.get('seen_by_both'));
  expect(after.get('seen_by_one')).not.toBe(before.get('seen_by_one'));
  expect(after.get('seen_by_one')!.columns.map(({ name }) => name)).toEqual(['id', 'more']);
  expect([...after.keys()]).toEqual([...before.keys(), 'third']);
});

test('an old schema is freed once each role that used it has a new one', async () => {
  const execution = await startExecution(database);
  const old = new WeakRef((await execution.role('anon')).shared);
  const oldOfOther = new WeakRef((await execution.role('authenticated')).shared);
  await database.query(describe('seen_by_both'));
  await execution.reload();

  await execution.role('anon');
  await letGo();
  expect([old.deref(), oldOfOther.deref() === undefined]).toEqual([undefined, false]);

  await execution.role('authenticated');
  await letGo();
  expect(oldOfOther.deref()).toBeUndefined();
});

/** Collects what nothing refers to. A weak reference keeps what it gave until the turn of the event loop ends. */
async function letGo(): Promise<void> {
  await sleep(0);
  collect();
}
