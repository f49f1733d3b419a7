/** Live queries after `init --live`: a change of any table that a query has read makes it run, and a change of another does not. */
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { testGateway } from '../support/gateway.ts';
import {
  both,
  type Changing,
  catalogChanges,
  connect,
  createRecorded,
  exact,
  expectChange,
  last,
  live,
  none,
  open,
} from './recorded.ts';

const database = await createRecorded();
const started: (() => unknown)[] = [];
const later = (stop: () => unknown) => void started.push(stop);
const [patient, quick] = [await testGateway(database, exact, later), await testGateway(database, both, later)];
afterAll(() => Promise.all(started.map((stop) => stop())));

describe('a change that is recorded', () => {
  test.each<[string, string, Changing]>([
    [
      'an insert',
      'author',
      {
        change: `insert into author values (7, 'Eve')`,
        expected: [1, 2, 7],
        undo: 'delete from author where id = 7',
      },
    ],
    [
      'a delete that cascades',
      'book',
      {
        before: `insert into author values (8, 'Fay'); insert into book values (80, 8, 'Of Fay')`,
        change: 'delete from author where id = 8',
        expected: [],
      },
    ],
    [
      'a table behind a view',
      'shelf',
      {
        change: `insert into book values (1, 1, 'Notes')`,
        expected: [1],
        undo: 'delete from book',
      },
    ],
    [
      'an insert through the parent',
      'entry',
      {
        change: 'insert into entry values (5)',
        expected: [5],
        undo: 'delete from entry',
      },
    ],
    [
      'an insert into a partition',
      'entry',
      {
        change: 'insert into entry_1 values (6)',
        expected: [6],
        undo: 'delete from entry',
      },
    ],
    [
      'an insert through the parent, for a query on the partition',
      'entry1',
      {
        change: 'insert into entry values (7)',
        expected: [7],
        undo: 'delete from entry',
      },
    ],
    [
      'truncate of the parent',
      'entry2',
      {
        before: 'insert into entry values (110)',
        change: 'truncate entry',
        expected: [],
      },
    ],
    [
      'truncate that cascades',
      'book',
      {
        before: `insert into book values (9, 1, 'Nine')`,
        change: 'truncate author cascade',
        expected: [],
        undo: `insert into author values (1, 'Ada'), (2, 'Ben')`,
      },
    ],
    [
      'copy',
      'author',
      {
        change: `copy author from program 'echo 9,Nine' with (format csv)`,
        expected: [1, 2, 9],
        undo: 'delete from author where id = 9',
      },
    ],
    [
      'a table behind the function of a policy',
      'secret',
      {
        change: `insert into hidden.member values ('x')`,
        expected: [1],
        undo: 'delete from hidden.member',
      },
    ],
    [
      'refresh of a materialized view',
      'title',
      {
        before: `insert into book values (3, 1, 'Three')`,
        change: 'refresh materialized view title',
        expected: [3],
        undo: 'delete from book; refresh materialized view title',
      },
    ],
    [
      'refresh concurrently',
      'title',
      {
        before: `insert into book values (4, 1, 'Four')`,
        change: 'refresh materialized view concurrently title',
        expected: [4],
        undo: 'delete from book; refresh materialized view title',
      },
    ],
    [
      'a write under session_replication_role = replica',
      'author',
      {
        change: `set session_replication_role = replica; insert into author values (7, 'Eve'); reset session_replication_role`,
        expected: [1, 2, 7],
        undo: 'delete from author where id = 7',
      },
    ],
    [
      'an upsert in a savepoint',
      'author',
      {
        change: `begin; savepoint a; insert into author values (1, 'x'), (7, 'y') on conflict (id) do nothing; release a; commit`,
        expected: [1, 2, 7],
        undo: 'delete from author where id = 7',
      },
    ],
    [
      'a write in a function',
      'author',
      {
        change: `do $$ begin begin insert into author values (7); perform 1 / 0; exception when others then insert into author values (6); end; end $$`,
        expected: [1, 2, 6],
        undo: 'delete from author where id = 6',
      },
    ],
  ])('%s brings an event', async (_title, name, changing) => {
    await none(patient);
    await expectChange(database, patient, name, changing);
  });

  test.each(catalogChanges)('%s brings an event, as a change of the catalog', async (_title, name, changing) => {
    await none(quick);
    await expectChange(database, quick, name, changing);
  });

  test('in a table that a policy has come to read brings an event', async () => {
    await none(quick);
    await database.query(`alter table author enable row level security;
      create policy by_unrelated on author for select using (id = 1)`);
    onTestFinished(async () => {
      await database.query(
        'drop policy by_unrelated on author; alter table author disable row level security; delete from unrelated',
      );
    });
    const heard = await open(quick, 'author');
    await database.query('insert into author values (7); delete from author where id = 7');
    await database.query(`alter policy by_unrelated on author using (exists (select from unrelated))`);
    await last(heard).toEqual([]);
    await database.query('insert into unrelated values (3)');
    await last(heard).toEqual([1, 2]);
  });

  test('in a table that a function of a policy has come to read brings an event', async () => {
    await none(patient);
    await database.query(`create function hidden.in_turn() returns bool language plpgsql stable security definer as $$ begin
        if exists (select from public.unrelated) then return exists (select from hidden.member); end if;
        return false;
      end $$;
      create policy in_turn on secret for select using (hidden.in_turn())`);
    onTestFinished(async () => {
      await database.query(
        'drop policy in_turn on secret; drop function hidden.in_turn; delete from hidden.member; delete from unrelated',
      );
    });
    const heard = await open(patient, 'secret');
    await database.query('insert into unrelated values (4)');
    await database.query(`insert into hidden.member values ('x')`);
    await last(heard).toEqual([1]);
    await database.query('delete from hidden.member');
    await last(heard).toEqual([]);
  });

  test('runs the queries on that table alone, and what is rolled back runs none', async () => {
    await none(patient);
    const [authors, books] = [await open(patient, 'author'), await open(patient, 'book')];
    onTestFinished(async () => void (await database.query('delete from book')));
    const { runs } = live(patient);
    await database.query('insert into unrelated values (1)');
    await database.query(`begin; insert into author values (70, 'Gone'); rollback`);
    await database.query(
      `begin; savepoint a; delete from author; rollback to a; insert into unrelated values (2); commit`,
    );
    await database.query('begin; lock table author in exclusive mode; commit');
    await database.query(`insert into book values (1, 1, 'Notes')`);
    await last(books).toEqual([1]);
    expect(live(patient).runs).toBe(runs + 1);
    expect(authors.results).toHaveLength(1);
  });

  test('in a long transaction brings an event when that is committed', async () => {
    await none(patient);
    const [authors, books] = [await open(patient, 'author'), await open(patient, 'book')];
    onTestFinished(async () => void (await database.query('delete from book; delete from author where id = 7')));
    const writer = await connect(database);
    await writer.query(`begin; insert into author values (7, 'Eve')`);
    for (const id of [1, 2, 3]) {
      await database.query(`insert into book values (${id}, 1, 'Notes')`);
      await last(books).toHaveLength(id);
    }
    expect(authors.results).toHaveLength(1);
    await writer.query('commit');
    await last(authors).toEqual([1, 2, 7]);
  });

  test('a change reaches the subscribers of every gateway on the database', async () => {
    await none(patient);
    await none(quick);
    const everybody = [await open(patient, 'author'), await open(quick, 'author')];
    onTestFinished(async () => void (await database.query('delete from author where id = 7')));
    await database.query(`insert into author values (7, 'Eve')`);
    for (const heard of everybody) await last(heard).toEqual([1, 2, 7]);
  });

  test('that a crash has taken out of the record brings an event, also where a pooler keeps the connections', async () => {
    await none(quick);
    const heard = await open(quick, 'author');
    onTestFinished(async () => void (await database.query('delete from author where id = 7')));
    // What a crash does (crash-behind-pooler.nightly.test.ts has a real one).
    await database.query(`begin; insert into author values (7, 'Eve'); delete from pgreflect.live_change;
      select pg_stat_reset_shared('bgwriter'); commit`);
    await last(heard).toEqual([1, 2, 7]);
  });
});
