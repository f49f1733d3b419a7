/** Where hints are given, what is not in the API says why. */
import { expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create table item (id int primary key, name text);
  create view item_name as select name from item;
  create view item_row as select id, name from item;
  create table label (id int primary key);
  create table item_label (item_id int references item, label_id int references label, primary key (item_id, label_id));
  grant usage on schema public to anon;
  grant select on all tables in schema public to anon;
`);
const hintOf = async (query: string, showHints = true) => {
  const execution = await startExecution(database, { showHints });
  const { errors } = await execution.run('anon', query);
  return errors[0].extensions.hint;
};

test('a view without a key says what it lacks', async () => {
  for (const query of [
    '{ itemNameCollection { edges { cursor } } }',
    '{ item_nameCollection { edges { cursor } } }',
    '{ itemName { name } }',
  ]) {
    expect(await hintOf(query), query).toContain(
      'View public.item_name has no primary key. Name columns that are unique in it by primary_key_columns.',
    );
  }
});

test.each([
  '{ __schema { types { name } } }',
  '{ __type(name: "Item") { name } }',
  '{ itemCollection { edges { cursor } } __schema { types { name } } }',
])('introspection that is off says how to switch it on: %s', async (query) => {
  expect(await hintOf(query)).toContain(
    `comment on schema public is '@graphql({"inflect_names":true,"introspection":true})';`,
  );
});

test('a collection of the other side of a junction table says how to switch it on', async () => {
  expect(await hintOf('{ itemCollection { edges { node { labelCollection { edges { cursor } } } } } }')).toContain(
    `comment on table public.item_label is '@graphql({"many_to_many":true})';`,
  );
});

test('without hints enabled, errors have none', async () => {
  expect(await hintOf('{ itemNameCollection { edges { cursor } } }', false)).toBeUndefined();
  expect(await hintOf('{ __schema { types { name } } }', false)).toBeUndefined();
});
