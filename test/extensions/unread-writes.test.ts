/** Writes of which only the number of rows is asked for read nothing back (extension `writes`, docs/mutations.md). */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startExecution, type TestExecution } from '../support/execution.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';

const schema = `
  create schema app; grant usage on schema app to anon;
  create function app.me() returns text stable language sql as
    $$ select nullif(current_setting('request.jwt.claims', true), '')::json ->> 'sub' $$;
  create table app.log (id int generated always as identity primary key, line text);
  alter table app.log enable row level security;
  create policy inserts on app.log for insert to anon with check (line is distinct from 'bad');
  create table app.team (id int primary key, name text);
  create table app.member (team_id int references app.team on delete cascade, sub text, primary key (team_id, sub));
  alter table app.team enable row level security;
  create policy founds on app.team for insert to anon with check (true);
  create policy reads on app.team for select to anon
    using (exists (select from app.member m where m.team_id = id and m.sub = app.me()));
  create policy renames on app.team for update to anon using (true);
  create policy closes on app.team for delete to anon using (true);
  create function app.join() returns trigger language plpgsql security definer as $$ begin
    insert into app.member values (new.id, app.me()); return null; end $$;
  create trigger joins after insert on app.team for each row execute function app.join();
  create table app.code (name text primary key, uses int not null default 1);
  create function app.suppress() returns trigger language plpgsql as $$ begin
    if new.name = 'skip' then return null; end if; return new; end $$;
  create trigger suppresses before insert on app.code for each row execute function app.suppress();
  create view app.entry as select id, line from app.log;
  comment on view app.entry is '@graphql({"primary_key_columns": ["id"]})';
  create view app.typed as select name from app.code;
  comment on view app.typed is '@graphql({"primary_key_columns": ["name"]})';
  create function app.enter() returns trigger language plpgsql as $$ begin
    if new.name = 'skip' then return null; end if;
    insert into app.code values (new.name); return new; end $$;
  create trigger enters instead of insert on app.typed for each row execute function app.enter();
  create table app.ruled (id int primary key, body text);
  create rule logs as on insert to app.ruled do also insert into app.code values ('ruled ' || new.id);
  create function app.copy() returns trigger language plpgsql as $$ begin
    insert into app.log (line) values (new.body); return new; end $$;
  create table app.copied (id int primary key, body text);
  create trigger copies before insert on app.copied for each row execute function app.copy();
  create table app.club (id int primary key, name text, by_default int unique default floor(random() * 1e9));
  create table app.seat (club_id int references app.club, sub text, primary key (club_id, sub));
  create table app.token (club_two int references app.club (by_default), n int primary key);
  create table app.badge (club_id int, sub text, label text, primary key (club_id, sub, label), foreign key (club_id, sub) references app.seat);
  alter table app.club enable row level security;
  alter table app.seat enable row level security;
  alter table app.badge enable row level security;
  create policy founds on app.club for insert to anon with check (name is distinct from 'bad');
  create policy reads on app.club for select to anon
    using (exists (select from app.seat s where s.club_id = id and s.sub = app.me()));
  create policy sits on app.seat for insert to anon with check (sub = app.me() or sub = 'guest');
  create policy reads on app.seat for select to anon using (sub = app.me());
  create policy gives on app.badge for insert to anon with check (true);
  create table app.numbered (id int primary key, name text);
  create table app.numbered_part (numbered_id int references app.numbered, line int, primary key (numbered_id, line));
  create function app.renumber() returns trigger language plpgsql as $$ begin
    new.id = new.id + 100; return new; end $$;
  create trigger renumbers before insert on app.numbered for each row execute function app.renumber();
  grant select, insert, update, delete on all tables in schema app to anon;
`;
let database: TestDatabase;
let execution: TestExecution;
beforeAll(async () => {
  database = await createDatabase(schema);
  execution = await startExecution(database, { schemas: ['app'] });
});
beforeEach(() =>
  database.query(
    'truncate app.log, app.team, app.member, app.code, app.ruled, app.copied, app.club, app.seat, app.badge, app.token, app.numbered, app.numbered_part restart identity',
  ),
);

const claims = { sub: 'ada' };
const run = (query: string, variables = {}) => execution.run('anon', query, { claims, variables });
const counted = async (query: string, variables = {}) => {
  const { data, errors } = await run(query, variables);
  expect(errors).toBeUndefined();
  return Object.values(data as Record<string, object>);
};
const rowsOf = async (table: string, columns: string) =>
  (await database.query(`select ${columns} from app.${table} order by 1`)).map((row) => Object.values(row).join(' '));
const textsOf = async (query: string, variables = {}) =>
  (await execution.statements('anon', query, { claims, variables })).map(({ text }) => text);

describe('rows that their writer does not see', () => {
  test('rows that their writer does not see are inserted if only the count is asked for, under any key, with `__typename` and without', async () => {
    for (const select of ['affectedCount', '__typename n: affectedCount again: affectedCount', '__typename']) {
      const [payload] = await counted(`mutation { insertIntologCollection(objects: [{line: "a"}, {}]) { ${select} } }`);
      expect([payload]).toEqual([
        select === 'affectedCount'
          ? { affectedCount: 2 }
          : { __typename: 'logInsertResponse', ...(select.length > 12 && { n: 2, again: 2 }) },
      ]);
    }
    expect(await rowsOf('log', 'id, line')).toEqual(['1 a', '2 ', '3 a', '4 ', '5 a', '6 ']);
  });

  test('rows that their writer does not see are refused where a record is selected, and the hint says how to write them', async () => {
    const { errors } = await run(
      'mutation { insertIntologCollection(objects: [{line: "a"}]) { records { __typename } } }',
    );
    expect(errors).toMatchObject([{ extensions: { code: 'PERMISSION_DENIED', hint: expect.stringMatching(/With affectedCount alone/) } }]); // biome-ignore format: one line
    expect(await rowsOf('log', 'line')).toEqual([]);
  });

  test('rows that their writer does not see are refused by the policy for writing all the same, and the hint tells the two apart', async () => {
    const { errors } = await run(
      'mutation { insertIntologCollection(objects: [{line: "a"}, {line: "bad"}]) { affectedCount } }',
    );
    expect(errors).toMatchObject([{ extensions: { code: 'PERMISSION_DENIED', hint: expect.stringMatching(/violates the policies for writing it.* not read back/) } }]); // biome-ignore format: one line
    expect(await rowsOf('log', 'line')).toEqual([]);
  });

  test('rows that their writer does not see are read back or not as directives decide', async () => {
    const query = `mutation ($read: Boolean!) { insertIntologCollection(objects: [{line: "a"}]) {
      affectedCount records @include(if: $read) { line } } }`;
    expect(await counted(query, { read: false })).toEqual([{ affectedCount: 1 }]);
    expect((await run(query, { read: true })).errors).toHaveLength(1);
    expect(await rowsOf('log', 'line')).toEqual(['a']);
  });

  test('rows that their writer does not see become visible by a trigger: their founder reads them with the next request', async () => {
    const found = 'mutation ($t: [teamInsertInput!]!) { insertIntoteamCollection(objects: $t) { affectedCount } }';
    expect(await counted(found, { t: [{ id: 1, name: 'Rope' }] })).toEqual([{ affectedCount: 1 }]);
    expect((await run('{ teamCollection { edges { node { name } } } }')).data).toEqual({
      teamCollection: { edges: [{ node: { name: 'Rope' } }] },
    });
  });

  test('rows that their writer does not see are inserted through a view, and the hint for a trigger that writes elsewhere does not speak of reading back', async () => {
    expect(await counted('mutation { insertIntoentryCollection(objects: [{line: "a"}]) { affectedCount } }')).toEqual([
      { affectedCount: 1 },
    ]);
    const { errors } = await run(
      'mutation { insertIntocopiedCollection(objects: [{id: 1, body: "bad"}]) { affectedCount } }',
    );
    expect(errors[0].extensions.hint).toMatch(/^A trigger or function writes the row/);
  });
});

describe('the count of unread writes', () => {
  test('the count of unread writes leaves out rows that triggers suppress, in tables and in views', async () => {
    const objects = 'objects: [{name: "a"}, {name: "skip"}, {name: "b"}]';
    for (const table of ['code', 'typed']) {
      await database.query('truncate app.code');
      const [payload] = await counted(`mutation { insertInto${table}Collection(${objects}) { affectedCount } }`);
      expect(payload).toEqual({ affectedCount: 2 });
    }
  });

  test('the count of unread writes has inserted and updated rows of an upsert, and none that stay as they are', async () => {
    await database.query(`insert into app.code values ('a', 1), ('b', 5)`);
    const upsert = (onConflict: string) =>
      counted(`mutation { insertIntocodeCollection(objects: [{name: "a", uses: 2}, {name: "b", uses: 2}, {name: "c"}],
        onConflict: {constraint: code_pkey${onConflict}}) { affectedCount } }`);
    expect(await upsert(', updateColumns: [uses], filter: {uses: {gt: 3}}')).toEqual([{ affectedCount: 2 }]);
    expect(await upsert('')).toEqual([{ affectedCount: 0 }]);
    expect(await rowsOf('code', 'name, uses')).toEqual(['a 1', 'b 2', 'c 1']);
  });

  test('the count of unread writes is that of the command where a rule adds another, whose rows can be inserted now', async () => {
    expect(
      await counted('mutation { insertIntoruledCollection(objects: [{id: 1}, {id: 2}]) { affectedCount } }'),
    ).toEqual([{ affectedCount: 2 }]);
    expect(await rowsOf('code', 'name')).toEqual(['ruled 1', 'ruled 2']);
  });

  test('the count of unread writes is right for each of several fields, and for large numbers of rows', async () => {
    const many = Array.from({ length: 1234 }, (_, id) => ({ name: `n${id}` }));
    const query = `mutation ($many: [codeInsertInput!]!) {
      a: insertIntocodeCollection(objects: $many) { affectedCount }
      b: updatecodeCollection(set: {uses: 7}, filter: {name: {eq: "n7"}}) { affectedCount }
      c: updatecodeCollection(set: {uses: 8}, filter: {name: {eq: "none"}}) { affectedCount }
      d: updatecodeCollection(set: {uses: 9}, filter: {uses: {eq: 7}}) { affectedCount records { name } }
      e: deleteFromcodeCollection(filter: {name: {eq: "n8"}}) { n: affectedCount }
      f: updateManycodeCollection(updates: [{set: {uses: 3}, filter: {name: {eq: "n9"}}}, {set: {uses: 3}, filter: {uses: {eq: 99}}}]) { affectedCount }
    }`;
    expect(await counted(query, { many })).toEqual([
      { affectedCount: 1234 },
      { affectedCount: 1 },
      { affectedCount: 0 },
      { affectedCount: 1, records: [{ name: 'n7' }] },
      { n: 1 },
      [{ affectedCount: 1 }, { affectedCount: 0 }],
    ]);
  });
});

describe('the statement of an unread write', () => {
  test('the statement of an unread write returns nothing for inserts, upserts, and updates and deletes by key', async () => {
    const texts = await textsOf(`mutation {
      a: insertIntocodeCollection(objects: [{name: "a"}]) { affectedCount }
      b: insertIntocodeCollection(objects: [{name: "a"}, {}], onConflict: {constraint: code_pkey}) { affectedCount }
      c: updatecodeCollection(set: {uses: 7}, filter: {name: {eq: "a"}}) { affectedCount }
      d: deleteFromcodeCollection(filter: {name: {eq: "a"}}) { affectedCount }
      e: insertIntotypedCollection(objects: [{name: "a"}]) { affectedCount }
    }`);
    expect(texts).toHaveLength(5);
    for (const text of texts) expect(text).not.toMatch(/returning|^with /);
  });

  test('the statement of an unread write returns a column where rows are found by another condition, so that policies for reading hold', async () => {
    const [update, remove] = await textsOf(`mutation {
      a: updatecodeCollection(set: {uses: 7}, atMost: 5) { affectedCount }
      b: deleteFromcodeCollection(atMost: 5) { affectedCount }
    }`);
    for (const text of [update, remove]) expect(text).toMatch(/returning "t\d+"\."name"/);
  });
});

describe('rows with related rows that their writer does not see', () => {
  const found = `mutation ($clubs: [clubInsertInput!]!) { insertIntoclubCollection(objects: $clubs) { affectedCount } }`;

  test('rows with related rows that their writer does not see are inserted if their keys are given: a club with its first member', async () => {
    const literal = `mutation { insertIntoclubCollection(objects: [
      {id: 1, name: "Rope", seatCollection: {insert: [{sub: "ada"}]}}]) { affectedCount } }`;
    expect(await counted(literal)).toEqual([{ affectedCount: 1 }]);
    const clubs = [
      {
        id: 2,
        name: 'Sail',
        seatCollection: { insert: [{ sub: 'guest', badgeCollection: { insert: [{ label: 'a' }] } }] },
      },
      { id: 3, name: 'Oar' },
      {
        id: 4,
        seatCollection: {
          insert: [{ sub: 'ada' }, { sub: 'guest', badgeCollection: { insert: [{ label: 'b' }, { label: 'c' }] } }],
        },
      },
    ];
    expect(await counted(found, { clubs })).toEqual([{ affectedCount: 3 }]);
    expect(await rowsOf('seat', 'club_id, sub')).toEqual(['1 ada', '2 guest', '4 ada', '4 guest']);
    expect(await rowsOf('badge', 'club_id, sub, label')).toEqual(['2 guest a', '4 guest b', '4 guest c']);
    expect((await run('{ clubCollection { edges { node { id } } } }')).data).toEqual({
      clubCollection: { edges: [{ node: { id: 1 } }, { node: { id: 4 } }] },
    });
  });

  test('rows with related rows that their writer does not see are inserted as rows that others refer to', async () => {
    const sit = `mutation ($seats: [seatInsertInput!]!) { insertIntoseatCollection(objects: $seats) { affectedCount } }`;
    const seats = [
      { sub: 'guest', club: { insert: { id: 7, name: 'Oar' } } },
      { sub: 'ada', club: { insert: { id: 8, name: 'Sail' } }, badgeCollection: { insert: [{ label: 'b' }] } },
    ];
    expect(await counted(sit, { seats })).toEqual([{ affectedCount: 2 }]);
    expect(await rowsOf('club', 'id, name')).toEqual(['7 Oar', '8 Sail']);
    expect(await rowsOf('badge', 'club_id, sub, label')).toEqual(['8 ada b']);
  });

  test('rows with related rows that their writer does not see return nothing at any level', async () => {
    const query = `mutation { insertIntoseatCollection(objects: [{sub: "ada", club: {insert: {id: 1}},
      badgeCollection: {insert: [{label: "a"}]}}]) { affectedCount } }`;
    const texts = await textsOf(query);
    expect(texts.filter((text) => /insert into/.test(text))).toHaveLength(3);
    for (const text of texts) expect(text).not.toMatch(/returning|from "app"/);
  });

  test('rows with related rows that their writer does not see are refused by the policies for writing, at each level', async () => {
    for (const clubs of [
      [{ id: 1, name: 'bad', seatCollection: { insert: [{ sub: 'ada' }] } }],
      [{ id: 1, seatCollection: { insert: [{ sub: 'ada' }, { sub: 'bob' }] } }],
    ]) {
      const { errors } = await run(found, { clubs });
      expect(errors).toMatchObject([{ extensions: { code: 'PERMISSION_DENIED', hint: expect.stringMatching(/ not read back/) } }]); // biome-ignore format: one line
    }
    expect(await rowsOf('club', 'id')).toEqual([]);
  });

  test('rows with related rows that their writer does not see are refused where the key is read back, and the hint says why', async () => {
    const hintOf = async (query: string) => (await run(query)).errors[0].extensions.hint;
    const seat = 'seatCollection: {insert: [{sub: "ada"}]}';
    expect(
      await hintOf(`mutation { insertIntoclubCollection(objects: [{id: 1, ${seat}}]) { records { id } } }`),
    ).toMatch(/With affectedCount alone and a given key/);
    expect(
      await hintOf(`mutation { insertIntoclubCollection(objects: [{id: 1, ${seat}}],
        onConflict: {constraint: club_pkey, updateColumns: [name]}) { affectedCount } }`),
    ).toMatch(/an upsert reads the rows that it meets/);
    expect(
      await hintOf(
        `mutation { insertIntoclubCollection(objects: [{id: 1, tokenCollection: {insert: [{n: 1}]}}]) { affectedCount } }`,
      ),
    ).toMatch(/because the database makes it. Give the key/);
    await database.query(
      'alter table app.numbered enable row level security; create policy i on app.numbered for insert to anon with check (true)',
    );
    expect(
      await hintOf(
        `mutation { insertIntonumberedCollection(objects: [{id: 1, numbered_partCollection: {insert: [{line: 1}]}}]) { affectedCount } }`,
      ),
    ).toMatch(/because a trigger or conflict may give it another/);
    await database.query('alter table app.numbered disable row level security; drop policy i on app.numbered');
  });

  test('rows with related rows that their writer does not see are read back where a trigger may change their keys, so that related rows find them', async () => {
    const parts = '{insert: [{line: 1}]}';
    expect(
      await counted(`mutation { insertIntonumberedCollection(objects: [{id: 1, numbered_partCollection: ${parts}}, {id: 2}, {id: 3, numbered_partCollection: ${parts}}])
        { affectedCount } }`),
    ).toEqual([{ affectedCount: 3 }]);
    expect(await rowsOf('numbered_part', 'numbered_id, line')).toEqual(['101 1', '103 1']);
  });
});

test('without the extension, rows are read back as in pg_graphql', async () => {
  const plain = await startExecution(database, { schemas: ['app'], extensions: ['reads'] });
  const query = 'mutation { insertIntologCollection(objects: [{line: "a"}]) { affectedCount } }';
  const { errors } = await plain.run('anon', query, { claims });
  expect(errors[0].extensions.hint).toMatch(/those for SELECT as well: it is read back\.$/);
  expect(await rowsOf('log', 'line')).toEqual([]);
});
