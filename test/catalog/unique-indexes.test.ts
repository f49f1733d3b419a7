/**
 * What the catalog knows of unique indexes, which inserts can name for conflicts, and of the tables behind views.
 */
import { expect, test } from 'vitest';
import { createDatabase } from '../support/postgres.ts';
import { modelReader } from '../support/read-model.ts';

const database = await createDatabase(`
  create schema app; create schema hidden;
  create table app.person (
    id int primary key, email text, tenant int, nick text, gone_at timestamptz,
    constraint person_nick_key unique (tenant, nick), constraint person_later unique (nick) deferrable
  );
  create index person_plain on app.person (email);
  create unique index person_email on app.person (lower(email), tenant, (tenant + 1)) include (nick) where gone_at is null and nick <> 'it''s \\';
  create table hidden.thing (id int primary key, code text, note text);
  create unique index thing_code on hidden.thing (code) where note is null;
  create view hidden.inner_thing as select note as remark, code, id from hidden.thing where id in (select id from app.person);
  create view app.thing as select id as thing_id, upper(code) as loud, code, (select max(id) from app.person) as most from hidden.inner_thing;
  create view app.triggered as select * from hidden.thing;
  create function hidden.nothing() returns trigger language plpgsql as 'begin return new; end';
  create trigger t instead of insert on app.triggered for each row execute function hidden.nothing();
  create view app.over_triggered as select * from app.triggered;
  create view app.ruled as select * from hidden.thing;
  create rule r as on insert to app.ruled do instead nothing;
  create view app.whole as select id, code from hidden.thing;
  create view app.joined as select p.id from app.person p join hidden.thing t using (id);
  create table app.noted (id int primary key);
  create rule r as on insert to app.noted do also nothing;`);
const catalog = await modelReader(database).catalog(['app']);
const tableOf = (name: string) => catalog.tables.find(({ relname }) => relname === name)!;

test('unique indexes come with their names, expressions and conditions as SQL; no others', () => {
  const found = tableOf('person')
    .getIndexes()
    .map(({ indexrelid: _, indrelid: __, ...index }) => index);
  const plain = { indisprimary: false, indisvalid: true, indimmediate: true, indisexclusion: false, indexprs: null, indpred: null, columns: null, nullsNotDistinct: false, hasRules: false, hasChildTables: false }; // biome-ignore format: a row of a table
  expect(found).toEqual([
    { ...plain, relname: 'person_pkey', indisprimary: true, indkey: [1], indnkeyatts: 1 },
    { ...plain, relname: 'person_nick_key', indkey: [3, 4], indnkeyatts: 2 },
    { ...plain, relname: 'person_later', indimmediate: false, indkey: [4], indnkeyatts: 1 },
    {
      ...plain,
      relname: 'person_email',
      indkey: [0, 3, 0, 4],
      indnkeyatts: 3,
      indexprs: ['lower(email)', '((tenant + 1))'],
      indpred: `((gone_at IS NULL) AND (nick <> 'it''s \\'::text))`,
      columns: { id: 1, email: 2, tenant: 3, nick: 4, gone_at: 5 },
    },
  ]);
  expect(tableOf('noted').getIndexes()).toMatchObject([{ relname: 'noted_pkey', hasRules: true }]);
});

test('the table behind views of views is known, also outside of exposed schemas, with the columns that are passed on', () => {
  const base = tableOf('thing').getBase()!;
  expect(base.indexes.map(({ relname }) => relname)).toEqual(['thing_pkey', 'thing_code']);
  expect(base.showsAllRows).toBe(false);
  expect(base.columns).toEqual(new Map([[1, 1], [2, 3]])); // biome-ignore format: pairs
});

test('a view without a condition shows all rows', () => {
  expect(tableOf('whole').getBase()).toMatchObject({ showsAllRows: true });
});

test('tables, views of several tables, and views with rules or triggers for inserts have none behind them', () => {
  for (const name of ['person', 'triggered', 'ruled', 'joined']) expect(tableOf(name).getBase(), name).toBe(null);
  expect(tableOf('over_triggered').getBase()?.indexes ?? []).toEqual([]);
});
