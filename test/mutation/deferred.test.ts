/** What a deferred trigger writes may itself be deferred to the commit, as in every transaction of PostgreSQL. */
import { beforeEach, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  create schema lib; grant usage on schema lib to anon;
  create table lib.sale (id int primary key, fails boolean not null default false);
  create table lib.invoice (id int primary key);
  create table lib.line (id int primary key, invoice int not null references lib.invoice deferrable initially deferred);
  create sequence lib.runs;
  create function lib.write_invoice() returns trigger language plpgsql security definer as $$ begin
    perform nextval('lib.runs');
    if new.fails then raise exception 'not sold'; end if;
    insert into lib.line values (new.id, new.id);
    if new.id < 10 then insert into lib.invoice values (new.id); end if;
    return null;
  end $$;
  create constraint trigger write_invoice after insert on lib.sale deferrable initially deferred
    for each row execute function lib.write_invoice();
  grant insert on lib.sale to anon;
`);
const library = await startExecution(database, { schemas: ['lib'] });
const sell = (sale: string) =>
  library.run('anon', `mutation { insertIntosaleCollection(objects: [${sale}]) { affectedCount } }`);
const written = () => database.query('select s.id, l.invoice from lib.sale s full join lib.line l using (id)');
const runs = async () => (await database.query('select last_value::int as n, is_called from lib.runs'))[0];

beforeEach(() => database.query('truncate lib.sale, lib.invoice, lib.line; alter sequence lib.runs restart'));

test('a deferred trigger writes a row before the one that it refers to', async () => {
  expect(await sell('{ id: 1 }, { id: 2 }')).toEqual({ data: { insertIntosaleCollection: { affectedCount: 2 } } });
  expect(await written()).toEqual([
    { id: 1, invoice: 1 },
    { id: 2, invoice: 2 },
  ]);
});

test('what it writes is checked all the same, and nothing of it stays', async () => {
  expect(await sell('{ id: 1 }, { id: 10 }')).toMatchObject({
    data: null,
    errors: [{ extensions: { code: 'CONSTRAINT_VIOLATION', sqlstate: '23503' } }],
  });
  expect(await written()).toEqual([]);
});

test('a deferred trigger that refuses runs once', async () => {
  expect(await sell('{ id: 1, fails: true }')).toMatchObject({ data: null, errors: [{ message: 'not sold' }] });
  expect([await written(), await runs()]).toEqual([[], { n: 1, is_called: true }]);
});
