/** Updates by values of rows and lists of updates: privileges, policies, views, partitions, triggers, names, races, one flight. */
import pg from 'pg';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';
import { modelReader } from '../support/read-model.ts';
import { startRecordingProxy, through } from '../support/recording-proxy.ts';
import { atEnd } from '../support/when-over.ts';

const database = await createDatabase(`
  create schema app; grant usage on schema app to anon;
  comment on schema app is '@graphql({"inflect_names": true})';
  create table app.item (id int primary key, n int not null default 0, tags text[] not null default '{}', tenant int not null default 1, pin int default 0);
  alter table app.item enable row level security;
  create policy own on app.item to anon using (tenant = 1) with check (tenant = 1 and n <= 100);
  grant insert, delete on app.item to anon;
  grant select (id, n, tags, tenant), update (n, tags, tenant, pin) on app.item to anon;
  create table app.part (id int, region text, n int default 0, primary key (region, id)) partition by list (region);
  create table app.part_a partition of app.part for values in ('a');
  create table app.part_b partition of app.part for values in ('b');
  create view app.parts as select * from app.part;
  comment on view app.parts is '@graphql({"primary_key_columns": ["region", "id"]})';
  create table app.plain (id int primary key, n int default 0, note text, twice int generated always as (n * 2) stored);
  create view app.seen as select id, n, note from app.plain where n < 1000 with check option;
  comment on view app.seen is '@graphql({"primary_key_columns": ["id"]})';
  create view app.taken as select id, n, note from app.plain;
  comment on view app.taken is '@graphql({"primary_key_columns": ["id"]})';
  create function app.write_taken() returns trigger language plpgsql as $$ begin update app.plain set n = new.n where id = old.id; return new; end $$;
  create trigger write_taken instead of update on app.taken for each row execute function app.write_taken();
  create function app.guard() returns trigger language plpgsql as $$ begin
    if new.note = 'skip' then return null; end if;
    if new.n > 5000 then new.n = 5000; end if;
    return new; end $$;
  create trigger guard before update on app.plain for each row execute function app.guard();
  grant all on app.part, app.part_a, app.parts, app.plain, app.seen, app.taken to anon;
`);
const proxy = await startRecordingProxy(database.url);
const execution = await startExecution(through(proxy, database), { schemas: ['app'], introspection: 'always' });

beforeEach(() =>
  database.query(`truncate app.item, app.part, app.plain;
    insert into app.item (id, n, tenant) values (1, 1, 1), (2, 2, 1), (3, 3, 2);
    insert into app.part values (1, 'a', 1), (1, 'b', 2);
    insert into app.plain (id, n, note) values (1, 1, 'x'), (2, 2, 'skip'), (3, 2000, 'y')`),
);

type Entries = readonly Readonly<Record<string, unknown>>[];
const many = (type: string, updates: Entries, fields = 'affectedCount') =>
  execution.run(
    'anon',
    `mutation ($u: [${type}UpdateEntry!]!) { updateMany${type}Collection(updates: $u) { ${fields} } }`,
    {
      variables: { u: updates },
    },
  );
const add = (id: number, n: number) => ({ increment: { n }, filter: { id: { eq: id } } });
const counts = (answer: { data?: Record<string, { affectedCount: number }[]> }) =>
  Object.values(answer.data!)[0]!.map(({ affectedCount }) => affectedCount);
const numbers = async (table: string) =>
  (await database.query(`select n from app.${table} order by tableoid::regclass::text, id`)).map(({ n }) => n);

describe('privileges', () => {
  const fieldsOf = async (type: string, role = 'anon') => {
    const { __type } = await execution.data(role, `{ __type(name: "${type}") { inputFields { name } } }`);
    return __type?.inputFields.map(({ name }: { name: string }) => name) ?? null;
  };

  test('an operator needs UPDATE and SELECT on the column', async () => {
    // Not id, which cannot be updated, and not pin, which cannot be read.
    expect(await fieldsOf('ItemUpdateInput')).toEqual(['n', 'tags', 'tenant', 'pin']);
    const change = (field: string) =>
      execution.run(
        'anon',
        `mutation { updateItemCollection(set: {}, increment: ${field}, filter: {id: {eq: 1}}) { affectedCount } }`,
      );
    expect((await change('{n: 1, tenant: 0}')).errors).toBeUndefined();
    expect((await change('{pin: 1}')).errors[0].message).toBe('"pin" has no "increment": the role may not read it.');
    expect((await change('{tags: ["a"]}')).errors[0].message).toBe('"tags" has no "increment": its type has none.');
    expect(await fieldsOf('ItemUpdateEntry')).toEqual([
      ...['set', 'increment', 'append', 'prepend', 'remove', 'filter', 'atMost'],
    ]);
  });

  test('without an operator that fits there is no argument', async () => {
    expect(await fieldsOf('PlainUpdateEntry')).toEqual(['set', 'increment', 'append', 'filter', 'atMost']);
  });
});

describe('policies', () => {
  test('policies hide rows from operators and lists, also by key', async () => {
    expect(counts(await many('Item', [add(1, 1), add(3, 1), add(9, 1)]))).toEqual([1, 0, 0]);
    const one = 'mutation { updateItemCollection(set: {}, increment: {n: 1}, atMost: 9) { affectedCount } }';
    expect(await execution.data('anon', one)).toEqual({ updateItemCollection: { affectedCount: 2 } });
    expect(await numbers('item')).toEqual([3, 3, 3]);
  });

  test('check the new rows, and undo the whole list', async () => {
    for (const entry of [add(2, 99), { increment: { tenant: 1 }, filter: { id: { eq: 2 } } }]) {
      const { data, errors } = await many('Item', [add(1, 1), entry]);
      expect([data, errors[0].extensions.code]).toEqual([null, 'PERMISSION_DENIED']);
      expect(await numbers('item')).toEqual([1, 2, 3]);
    }
  });
});

describe('partitions, views and triggers', () => {
  test('rows of partitions are found by the whole key, in the partition and through a view of all', async () => {
    const entry = (region: string, n: number) => ({
      increment: { n },
      filter: { region: { eq: region }, id: { eq: 1 } },
    });
    expect(counts(await many('PartA', [entry('a', 20), entry('b', 1)]))).toEqual([1, 0]);
    expect(counts(await many('Parts', [entry('b', 10), entry('a', 20), entry('c', 1)]))).toEqual([1, 1, 0]);
    expect(await numbers('part')).toEqual([41, 12]);
  });

  test.each(['Seen', 'Taken'])('entries for the view %s are run one by one', async (type) => {
    expect(counts(await many(type, [add(1, 10), add(2, 10), { set: { n: 7 }, filter: { id: { eq: 1 } } }]))).toEqual(
      type === 'Seen' ? [1, 0, 1] : [1, 1, 1],
    );
    expect((await numbers('plain'))[0]).toBe(7);
  });

  test('the check of a view undoes the list', async () => {
    const { errors } = await many('Seen', [add(1, 10), add(1, 2000)]);
    expect(errors[0].extensions).toMatchObject({ code: 'CONSTRAINT_VIOLATION', sqlstate: '44000' });
    expect(await numbers('plain')).toEqual([1, 2, 2000]);
  });

  test('what triggers change and suppress is answered as it is', async () => {
    const answer = await many('Plain', [add(3, 9000), add(2, 1), add(1, 1)], 'affectedCount records { id n twice }');
    expect(answer.data.updateManyPlainCollection).toEqual([
      { affectedCount: 1, records: [{ id: 3, n: 5000, twice: 10000 }] },
      { affectedCount: 0, records: [] },
      { affectedCount: 1, records: [{ id: 1, n: 2, twice: 4 }] },
    ]);
  });
});

describe('at the same time', () => {
  const addOne =
    'mutation { updatePlainCollection(set: {}, increment: {n: 1}, append: {note: "."}, filter: {id: {eq: 1}}) { affectedCount } }';

  test('two clients with 500 increments each lose none', async () => {
    const other = await startExecution(database, { schemas: ['app'] });
    const client = async (of: typeof execution) => {
      for (let n = 0; n < 500; n += 1) expect((await of.run('anon', addOne)).errors).toBeUndefined();
    };
    await Promise.all([client(execution), client(other)]);
    expect(await database.query('select n, length(note) as dots from app.plain where id = 1')).toEqual([
      { n: 1001, dots: 1001 },
    ]);
  });

  test('lists over the same rows in opposite order lose no increment, or are a conflict', async () => {
    await database.query('insert into app.plain (id, n) select i, 0 from generate_series(10, 209) i');
    const ids = Array.from({ length: 200 }, (_, index) => index + 10);
    let written = 0;
    for (let round = 0; round < 5; round += 1) {
      const answers = await Promise.all([
        many(
          'Plain',
          ids.map((id) => add(id, 1)),
        ),
        many(
          'Plain',
          ids.toReversed().map((id) => add(id, 1)),
        ),
      ]);
      for (const { errors } of answers) {
        if (errors === undefined) written += 1;
        else expect(errors).toMatchObject([{ extensions: { code: 'CONFLICT', sqlstate: '40P01' } }]);
      }
    }
    expect(written).toBeGreaterThan(4);
    expect(await database.query('select distinct n from app.plain where id >= 10')).toEqual([{ n: written }]);
  });

  test('an update that waited changes the row that the other transaction left', async () => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    atEnd(() => client.end());
    await client.query(`begin; update app.plain set n = 50, note = 'new' where id = 1`);
    const answers = Promise.all([execution.run('anon', addOne), many('Plain', [add(3, 1), add(1, 5)])]);
    const waiting = `select from pg_stat_activity where datname = current_database() and application_name = 'pgreflect test' and wait_event_type = 'Lock'`;
    await vi.waitFor(async () => expect((await database.query(waiting)).length).toBe(2), 30_000);
    await client.query('commit');
    for (const { errors } of await answers) expect(errors).toBeUndefined();
    expect(await database.query('select n, note from app.plain where id = 1')).toEqual([{ n: 56, note: 'new.' }]);
  });
});

describe('a list', () => {
  const mixed = [
    add(1, 1),
    { set: { note: 'cut here' }, filter: { n: { gt: 1000 } } },
    add(1, 2),
    { ...add(3, 1), atMost: 2 },
  ];

  test('a list takes one round trip, however many statements it has', async () => {
    await many('Plain', mixed);
    proxy.reset();
    const { data } = await many('Plain', mixed);
    expect(data.updateManyPlainCollection).toHaveLength(4);
    expect(proxy.roundTrips()).toBe(1);
  });

  test('that is cut off at any point has written all or nothing', async () => {
    const before = await database.query('select id, n, note from app.plain order by id');
    // Bytes of the flight that reach the server before the connection ends.
    for (const part of [0.1, 0.3, 0.5, 0.7, 0.9, 0.99]) {
      let isCut = false;
      proxy.inspect((from, packet) => {
        if (from === 'server' || !packet.includes('cut here')) return 'pass';
        isCut = true;
        return Math.floor(packet.length * part);
      });
      const { errors } = await many('Plain', mixed);
      proxy.inspect(null);
      expect([isCut, errors[0].extensions.code]).toEqual([true, 'UNAVAILABLE']);
      expect(await database.query('select id, n, note from app.plain order by id')).toEqual(before);
    }
    expect((await many('Plain', mixed)).errors).toBeUndefined();
  });

  test('of a process that ends between two statements has written nothing', async () => {
    await database.query(`
      create or replace function app.guard() returns trigger language plpgsql security definer as $$ begin
        if new.note = 'die' then perform pg_terminate_backend(pg_backend_pid()); end if; return new; end $$`);
    const { errors } = await many('Plain', [add(1, 1), { set: { note: 'die' }, filter: { id: { eq: 3 } } }]);
    expect(errors[0].extensions.code).toBe('UNAVAILABLE');
    expect(await numbers('plain')).toEqual([1, 2, 2000]);
  });
});

describe('names', () => {
  test('that are taken are left out, and `check` says so', async () => {
    await database.query(`
      create schema lib; grant usage on schema lib to anon;
      comment on schema lib is '@graphql({"inflect_names": true})';
      create table lib.foo (id int primary key, n int, tags text[]);
      create table lib.many_foo (id int primary key, n int);
      create table lib.foo_remove_input (id int primary key);
      create table lib.bar (id int primary key, n int);
      create function lib.take() returns int volatile language sql as 'select 7';
      comment on function lib.take is '@graphql({"name": "updateManyBarCollection"})';
      create table lib.baz (id int primary key, n int);
      create type lib.baz_update_entry as enum ('a');
      create table lib.uses (id int primary key, e lib.baz_update_entry);
      insert into lib.foo values (1, 1, '{a}');
      grant all on all tables in schema lib to anon`);
    const lib = await startExecution(database, { schemas: ['lib'], introspection: 'always' });
    const { __type } = await lib.data(
      'anon',
      '{ __type(name: "Mutation") { fields { name type { name } args { name } } } }',
    );
    const fields = new Map<string, { args: { name: string }[]; type: { name: string } }>(
      __type.fields.map((field: { name: string }) => [field.name, field]),
    );
    const argumentsOf = (name: string) => fields.get(name)?.args.map((argument) => argument.name);
    expect(argumentsOf('updateFooCollection')).toEqual(['set', 'filter', 'atMost', 'increment', 'append', 'prepend']);
    expect(argumentsOf('updateManyFooCollection')).toEqual(['set', 'filter', 'atMost', 'increment']);
    expect(argumentsOf('updateManyManyFooCollection')).toEqual(['updates']);
    expect(argumentsOf('updateManyBarCollection')).toEqual([]);
    expect(await lib.data('anon', 'mutation { updateManyBarCollection }')).toEqual({ updateManyBarCollection: 7 });
    expect(fields.has('updateManyBazCollection')).toBe(false);
    const omissions = (await modelReader(database).omissions(['lib'])).map(({ reason }) => reason);
    expect(omissions).toEqual(
      expect.arrayContaining([
        'Table lib.foo would have the type "FooRemoveInput", and table lib.foo_remove_input has that name already.',
        'Table lib.foo would have "updateManyFooCollection", and table lib.many_foo has that name already.',
        'Table lib.bar would have "updateManyBarCollection", and function lib.take has that name already.',
      ]),
    );
  });

  test('names are there with the extension alone', async () => {
    const argumentsWith = async (extensions: readonly 'writes'[]) => {
      const own = await startExecution(database, { schemas: ['app'], introspection: 'always', extensions });
      const { entry, mutation } = await own.data(
        'anon',
        '{ entry: __type(name: "PlainUpdateEntry") { inputFields { name } } mutation: __type(name: "Mutation") { fields { name args { name } } } }',
      );
      const update = mutation.fields.find(({ name }: { name: string }) => name === 'updatePlainCollection');
      const names = (all: { name: string }[] | undefined) => all?.map(({ name }) => name);
      return [names(update.args), names(entry?.inputFields)];
    };
    const guards = ['filter', 'atMost'];
    expect(await argumentsWith([])).toEqual([['set', ...guards], undefined]);
    const operators = ['increment', 'append'];
    expect(await argumentsWith(['writes'])).toEqual([
      ['set', ...guards, ...operators],
      ['set', ...operators, ...guards],
    ]);
  });
});
