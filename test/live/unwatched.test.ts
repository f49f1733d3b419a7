/**
 * Live queries after an `init --live` that was refused event triggers, as by the owner of a database who is no superuser: what is recorded
 * is the same, and the rest is noticed by looking, or read at the interval.
 */
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { testGateway } from '../support/gateway.ts';
import { recordChanges } from '../support/live-record.ts';
import { both, catalogChanges, createRecorded, expectChange, last, live, none, open, soon } from './recorded.ts';

const database = await createRecorded({ isWatched: false });
const started: (() => unknown)[] = [];
const gateway = await testGateway(database, both, (stop) => void started.push(stop));
afterAll(() => Promise.all(started.map((stop) => stop())));

/** Looks at the catalog, which happens by itself each second, and less often where it takes long, as on a busy machine. */
const lookNow = 'notify pgreflect';

describe('without event triggers', () => {
  test('a change that the triggers record brings an event', async () => {
    const change = `insert into author values (7, 'Eve')`;
    await expectChange(database, gateway, 'author', {
      change,
      expected: [1, 2, 7],
      undo: 'delete from author where id = 7',
    });
  });

  test.each(catalogChanges)('%s brings an event', async (_title, name, changing) => {
    await none(gateway);
    await expectChange(database, gateway, name, { ...changing, change: `${changing.change}; ${lookNow}` });
  });

  test('a table that comes later is read at the interval, and after its changes once init --live has run again', async () => {
    await none(gateway);
    await database.query('create table late (id int primary key); grant select on late to anon');
    await database.query(lookNow);
    await soon(async () =>
      expect((await gateway.ask('{ lateCollection { edges { node { id } } } }')).body.errors).toBe(undefined),
    );
    const heard = await open(gateway, 'late', 'interval');
    await database.query('insert into late values (1)');
    await last(heard).toEqual([1]);
    await recordChanges(database, { isWatched: false });
    await soon(() => expect(live(gateway).exactGroups).toBe(1));
    await database.query('insert into late values (2)');
    await last(heard).toEqual([1, 2]);
  });

  test('a partition that comes later makes queries on its parent go at the interval', async () => {
    await none(gateway);
    const heard = await open(gateway, 'entry');
    onTestFinished(async () => void (await database.query('drop table hidden.entry_8')));
    await database.query('create table hidden.entry_8 partition of entry for values from (800) to (900)');
    await database.query(lookNow);
    await soon(() => expect(live(gateway).exactGroups).toBe(0));
    await database.query('insert into hidden.entry_8 values (801)');
    await last(heard).toEqual([801]);
  });

  test('a materialized view is read at the interval', async () => {
    await none(gateway);
    await database.query(`insert into book values (3, 1, 'Three')`);
    onTestFinished(async () => void (await database.query('delete from book; refresh materialized view title')));
    const heard = await open(gateway, 'title', 'interval');
    await database.query('refresh materialized view title');
    await last(heard).toEqual([3]);
  });
});
