/**
 * `--read-only-queries`: a query that would write, through a volatile function or a view that logs, fails; mutations write.
 */
import { beforeEach, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  create table log (id int generated always as identity primary key, entry text);
  create function note(text) returns text volatile language sql as 'insert into public.log (entry) values ($1) returning entry';
  create table item (id int primary key);
  insert into item values (1);
  create function noted(item) returns text volatile language sql as $$ select public.note('read ' || $1.id) $$;
  create function sneaky(item) returns text volatile language plpgsql as $$
    begin perform set_config('transaction_read_only', 'off', true); return public.note('sneaky'); end $$;
  create view watched as select i.id, note('watched') as entry from item i;
  comment on view watched is '@graphql({"primary_key_columns": ["id"]})';
  create function add_entry(entry text) returns text volatile language sql as 'select public.note(entry)';
  grant all on all tables in schema public to anon;
`);
const readOnly = await startExecution(database, { readOnlyQueries: true });
const usual = await startExecution(database);
const entries = async () =>
  (await database.query<{ entry: string }>('select entry from log order by id')).map(({ entry }) => entry);

beforeEach(() => database.query('truncate log'));

test.each([
  [
    'a volatile computed field',
    '{ itemCollection { edges { node { noted } } } }',
    'cannot execute INSERT in a read-only transaction',
  ],
  [
    'a view that logs',
    '{ watchedCollection { edges { node { entry } } } }',
    'cannot execute INSERT in a read-only transaction',
  ],
  [
    'a function that lifts the ban',
    '{ itemCollection { edges { node { sneaky } } } }',
    'cannot set transaction read-write mode inside a read-only transaction',
  ],
])('a query that writes fails: %s', async (name, query, message) => {
  const body = await readOnly.run('anon', query);
  const code = name.includes('lifts') ? expect.any(String) : 'READ_ONLY';
  expect(body).toMatchObject({ data: null, errors: [{ extensions: { code } }] });
  if (code === 'READ_ONLY') expect(body.errors[0]).toMatchObject({ message, extensions: { sqlstate: '25006' } });
  expect(await entries()).toEqual([]);
});

test('a query that only reads is answered', async () => {
  expect(await readOnly.data('anon', '{ itemCollection { edges { node { id } } } }')).toEqual({
    itemCollection: { edges: [{ node: { id: 1 } }] },
  });
});

test('a mutation writes, through tables and functions', async () => {
  const query =
    'mutation { addEntry: add_entry(entry: "called") insertIntologCollection(objects: {entry: "inserted"}) { affectedCount } }';
  expect(await readOnly.data('anon', query)).toEqual({
    addEntry: 'called',
    insertIntologCollection: { affectedCount: 1 },
  });
  expect(await entries()).toEqual(['called', 'inserted']);
});

test('a mutation may select a function that writes below its records', async () => {
  const query = 'mutation { insertIntoitemCollection(objects: {id: 2}) { records { noted } } }';
  expect(await readOnly.data('anon', query)).toEqual({ insertIntoitemCollection: { records: [{ noted: 'read 2' }] } });
  await database.query('delete from item where id = 2');
});

test('the ban ends with the query: the next mutation on the same connection writes', async () => {
  for (let repetition = 0; repetition < 5; repetition++) {
    await Promise.all([
      readOnly.run('anon', '{ itemCollection { edges { node { noted } } } }'),
      readOnly.data('anon', 'mutation { add_entry(entry: "x") }'),
    ]);
  }
  expect(await entries()).toEqual(['x', 'x', 'x', 'x', 'x']);
});

test('without the option a query may write', async () => {
  expect(await usual.data('anon', '{ itemCollection { edges { node { noted } } } }')).toEqual({
    itemCollection: { edges: [{ node: { noted: 'read 1' } }] },
  });
  expect(await entries()).toEqual(['read 1']);
});
