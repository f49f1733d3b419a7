/**
 * A column changes its type while a statement that returns it waits for the table. What is answered is what the schema before the
 * change or the one after it says, and nothing in between; a mutation is done once.
 */
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { describe, expect, test, vi } from 'vitest';
import { type Json, startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const watch = `${readFileSync(new URL('../../sql/watch.sql', import.meta.url), 'utf8')};
  grant usage on schema pgreflect to authenticator; grant select on pgreflect.catalog_change to authenticator`;

const schema = (type: string, value: string) => `
  drop table if exists part, thing; drop function if exists count_up();
  create table thing (id int primary key, v ${type}, times int not null default 0);
  create table part (id int primary key, thing_id int references thing);
  comment on table thing is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
  insert into thing values (1, ${value});
  insert into part values (1, 1);
  create function count_up() returns trigger language plpgsql as $$ begin new.times := old.times + 1; return new; end $$;
  create trigger counted before update on thing for each row execute function count_up();
  grant usage on schema public to anon;
  grant all on thing, part to anon;`;

/** From type and value to another type, and what the value is in each of them. */
const changes: readonly (readonly [from: string, value: string, to: string, before: Json, after: Json])[] = [
  ['text', "'7'", 'int8', '7', '7'],
  ['text', "'7'", 'int4', '7', 7],
  ['int4', '7', 'int8', 7, '7'],
  ['int8', '7', 'text', '7', '7'],
  ['int4', '7', 'int4[] using array[v]', 7, [7]],
  ['text', `'{"a": 1}'`, 'jsonb', '{"a": 1}', '{"a": 1}'],
  ['bool', 'true', 'text', true, 'true'],
  ['float8', '1.5', 'numeric', 1.5, '1.5'],
];

/** What it asks for, and where the value is in the answer. */
const operations: Readonly<Record<string, readonly [text: string, read: (data: Json) => Json]>> = {
  'a row by its key': ['{ thingByPk(id: 1) { v } }', (data) => data.thingByPk.v],
  'rows of a page': [
    '{ thingCollection { totalCount pageInfo { hasNextPage } edges { cursor node { nodeId v } } } }',
    (data) => data.thingCollection.edges[0].node.v,
  ],
  'a row inside a row': ['{ partByPk(id: 1) { thing { v } } }', (data) => data.partByPk.thing.v],
  'an update by key': [
    'mutation { updatethingCollection(filter: {id: {eq: 1}}, set: {id: 1}) { records { v } } }',
    (data) => data.updatethingCollection.records[0].v,
  ],
  'an update with related rows': [
    'mutation { updatethingCollection(filter: {id: {gt: 0}}, set: {id: 1}) { records { v partCollection { edges { node { id } } } } } }',
    (data) => data.updatethingCollection.records[0].v,
  ],
};

/** Operations that are asked with every change. */
const always = ['rows of a page', 'an update by key'];

describe.each([
  ['with the trigger', watch],
  ['without the trigger', ''],
])('%s', async (_name, trigger) => {
  const database = await createDatabase(schema('text', "'x'"), trigger);
  const execution = await startExecution(database);
  const timesWritten = async () => (await database.query<{ times: number }>('select times from thing'))[0]?.times;

  describe.each(trigger === '' ? changes.slice(0, 4) : changes)(
    'from %s, holding %s, to %s',
    (from, value, to, before, after) => {
      // Each operation with one change of the value's form, and each change with a query and a mutation.
      const isFirst = from === changes[0]![0] && to === changes[0]![2];
      const asked = Object.entries(operations).filter(([name]) => isFirst || always.includes(name));
      test.each(asked)('%s', async (_operation, [text, read]) => {
        await database.query(schema(from, value));
        await execution.reload();
        expect(read(await execution.data('anon', text))).toEqual(before);
        const holder = new pg.Client({ connectionString: database.url });
        await holder.connect();
        try {
          await holder.query('begin; lock table thing');
          const answer = execution.data('anon', text);
          answer.catch(() => {});
          await vi.waitFor(async () => {
            const waiting = await database.query(
              "select from pg_stat_activity where datname = current_database() and application_name = 'pgreflect test' and wait_event_type = 'Lock'",
            );
            expect(waiting).not.toHaveLength(0);
          }, 20_000);
          await holder.query(
            `alter table thing alter column v type ${to.includes('using') ? to : `${to} using v::${to}`}; commit`,
          );
          expect([before, after]).toContainEqual(read(await answer));
          expect(read(await execution.data('anon', text))).toEqual(after);
          expect(await timesWritten()).toBe(text.startsWith('mutation') ? 3 : 0);
        } finally {
          await holder.end();
        }
      });
    },
  );
});
