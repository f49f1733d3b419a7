/**
 * Rows whose JSON the gateway makes: the same bytes as PostgreSQL would have made. A second root field makes PostgreSQL make
 * all of it, so the same field is asked both ways.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { openReader, type Reader } from './reader.ts';

const schema = `
  create schema lib;
  grant usage on schema lib to anon;
  create type lib.mood as enum ('so "so"', 'fine');
  comment on type lib.mood is '@graphql({"mappings": {"fine": "FINE"}})';
  create domain lib.label as text;
  create table lib.odd (
    id int primary key, small smallint, big bigint, single real, double double precision, exact numeric, amount numeric(9,2), flag boolean,
    txt text, short varchar(40), padded char(9), letter "char", named lib.label, uid uuid, day date, clock time, stamp timestamp,
    zoned timestamptz, js json, jb jsonb, mood lib.mood, moods lib.mood[], txts text[], span interval, bytes bytea
  );
  comment on table lib.odd is '@graphql({"totalCount": {"enabled": true}, "max_rows": 1000})';
  create function lib.loud(o lib.odd) returns text stable language sql as $$ select upper(o.txt) $$;
  create table lib.pair (a text, b timestamptz, c numeric, d boolean, e bigint, n int not null, primary key (a, e));
  create view lib.shown as select * from lib.odd;
  comment on view lib.shown is '@graphql({"primary_key_columns": ["id"]})';
  create table lib.lingering (id int primary key);
  -- Neither the limit of the server nor ours ends it.
  create function lib.linger() returns boolean language plpgsql as $$
    begin
      for i in 1..2 loop
        begin perform pg_sleep(1); exception when query_canceled then null; end;
      end loop;
      return true;
    end $$;
  alter table lib.lingering enable row level security;
  create policy lingers on lib.lingering using (lib.linger());
  insert into lib.lingering values (1);
  grant select on all tables in schema lib to anon;
`;

// Every character that JSON escapes, some that it need not, and characters of two, three and four bytes.
const rows = `
  select setseed(0.5);
  insert into lib.odd
  select g, g % 7 - 3, g::bigint * 9007199254740993, (random() * 10 ^ (g % 40 - 20))::real, random() * 10 ^ (g % 300 - 150),
    (random() * 10 ^ (g % 20))::numeric, round((random() * 1000)::numeric, 2), g % 3 = 0,
    (select string_agg(chr(c), '') from (select case when random() < 0.5 then 1 + (random() * 126)::int
       when random() < 0.5 then 128 + (random() * 2000)::int when random() < 0.5 then 8200 + (random() * 300)::int
       else 128512 + (random() * 70)::int end as c from generate_series(1, 1 + g % 60) where g > 0) as x),
    'short "' || g, 'pad' || g, chr(33 + g % 90)::"char", E'tab\\t' || g, md5(g::text)::uuid, date '2000-01-01' + g * 37,
    time '00:00' + g * interval '1.5 minutes', timestamp '1999-12-31 23:59:59.5' + g * interval '7 days 3.25 seconds',
    timestamptz '2024-03-31 00:30+01' + g * interval '1 hour', json_build_object('k "' || g, g), jsonb_build_array(g, null, 'x\\y'),
    case g % 3 when 0 then 'fine' when 1 then 'so "so"' end::lib.mood, array['fine', 'so "so"']::lib.mood[],
    array[null, 'a,b', '"', E'\\n'], g * interval '1 minute', decode(md5(g::text), 'hex')
  from generate_series(1, 300) as g;
  insert into lib.odd (id) values (301);
  insert into lib.odd (id, single, double, exact, txt, day, stamp, zoned) values
    (302, 'NaN', 'Infinity', 'NaN', '', 'infinity', '-infinity', '0044-03-15 12:00:00+00 BC'),
    (303, '-Infinity', '-0', 'Infinity', repeat('\\"', 5000), '0001-01-01', '12024-01-01', 'infinity'),
    (304, 1e-30, 1e300, -0.000, repeat('é', 70000), null, null, null);
  insert into lib.pair
  select substr(md5(g::text), 1, 1 + g % 3) || case g % 4 when 0 then '"\\' when 1 then 'ü' else '' end, timestamptz '2024-01-01' + g * interval '1 day',
    g * 1.50, g % 2 = 0, g * 10000000000, g % 5 from generate_series(1, 40) as g;
`;

let reader: Reader;
beforeAll(async () => {
  reader = await openReader([schema, rows]);
});

const all = `id small big single double exact amount flag txt short padded letter named uid day clock stamp zoned js jb mood moods txts span
  bytes nodeId __typename again: txt`;

const cases: Readonly<Record<string, string>> = {
  'every type': `oddCollection(first: 1000) { edges { node { ${all} } } }`,
  'a row by its key': `oddByPk(id: 17) { ${all} loud }`,
  'a key without a row': 'oddByPk(id: -1) { id txt }',
  'a row by its node id': `node(nodeId: "${Buffer.from('["lib", "odd", 5]').toString('base64')}") { nodeId ... on odd { txt } }`,
  'page info of a first page':
    'oddCollection(first: 3) { edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor __typename } }',
  'page info before the edges':
    'oddCollection(first: 3, offset: 2) { __typename pageInfo { hasPreviousPage hasNextPage } edges { __typename node { id } } }',
  'a last page': 'oddCollection(first: 3, offset: 302) { pageInfo { hasNextPage endCursor } edges { node { id } } }',
  'a page behind the end':
    'oddCollection(offset: 900) { edges { cursor } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }',
  'no rows asked for':
    'oddCollection(first: 0) { edges { cursor } pageInfo { hasNextPage hasPreviousPage startCursor } }',
  'a backward page':
    'oddCollection(last: 4) { edges { cursor node { txt } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }',
  'a backward page before a cursor':
    'oddCollection(last: 4, before: "WzIwXQ==") { pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { node { id } } }',
  'a total beside the rows': 'oddCollection(filter: {id: {lt: 5}}) { totalCount edges { node { id flag } } }',
  'a total beside no rows':
    'oddCollection(filter: {id: {lt: 5}}, offset: 10) { edges { node { flag } } totalCount pageInfo { hasNextPage hasPreviousPage } }',
  'a total alone': 'oddCollection(filter: {flag: {eq: true}}) { n: totalCount __typename }',
  'cursors of two columns': 'pairCollection(first: 40) { edges { cursor node { e } } pageInfo { endCursor } }',
  'cursors of an order by times':
    'pairCollection(first: 9, orderBy: [{b: DescNullsLast}]) { edges { cursor } pageInfo { startCursor hasPreviousPage } }',
  'cursors of an order by numbers and flags':
    'pairCollection(first: 9, after: "WzEuNTAsIGZhbHNlLCAiYyIsIDEwMDAwMDAwMDAwXQ==", orderBy: [{c: AscNullsLast}, {d: DescNullsFirst}]) { edges { cursor } pageInfo { hasPreviousPage endCursor } }',
  'cursors of floats, which PostgreSQL makes':
    'oddCollection(first: 20, orderBy: [{double: AscNullsFirst}]) { edges { cursor } pageInfo { endCursor } }',
  'cursors of odd numbers and texts':
    'oddCollection(last: 20, orderBy: [{exact: AscNullsLast}, {txt: AscNullsLast}, {zoned: DescNullsLast}]) { edges { cursor } }',
  'computed fields': 'oddCollection(first: 30) { edges { node { id loud } } }',
  'rows of a view': 'shownCollection(first: 2) { edges { node { id txt } } pageInfo { endCursor } }',
};

describe('The gateway makes the same bytes as PostgreSQL of', () => {
  for (const [name, field] of Object.entries(cases)) {
    test(name, async () => {
      const ours = await reader.execution.answer('anon', `{ a: ${field} }`);
      const theirs = await reader.execution.answer(
        'anon',
        `{ a: ${field} b: pairCollection(first: 0) { edges { cursor } } }`,
      );
      expect(`${String(ours.body).slice(0, -2)},"b":{"edges":[]}}}`).toBe(String(theirs.body));
    });
  }
});

describe('A statement returns rows', () => {
  // A text that PostgreSQL makes is the only piece of its answer.
  const isRows = async (query: string) =>
    ((await reader.execution.statements('anon', query))[0]?.layout?.pieces.length ?? 0) > 1;

  test('for plain lists, rows by key and counts', async () => {
    expect(await isRows('{ oddCollection { edges { node { id txt } } pageInfo { hasNextPage } totalCount } }')).toBe(
      true,
    );
    expect(await isRows('{ oddByPk(id: 1) { id } __typename }')).toBe(true);
    expect(await isRows('{ oddCollection { totalCount } }')).toBe(true);
  });

  test('not for several root fields, which must see the same state', async () => {
    expect(await isRows('{ oddByPk(id: 1) { id } oddCollection { totalCount } }')).toBe(false);
  });

  test('not where a computed field would run for the row after the page', async () => {
    expect(await isRows('{ oddCollection { edges { node { loud } } } }')).toBe(true);
    expect(await isRows('{ oddCollection { edges { node { loud } } pageInfo { hasNextPage } } }')).toBe(false);
  });

  test('with the same text whatever the keys of the answer are', async () => {
    const texts = await Promise.all(
      ['{ a: oddByPk(id: 1) { b: id } }', '{ oddByPk(id: 1) { id } }'].map(
        async (query) => (await reader.execution.statements('anon', query))[0]?.text,
      ),
    );
    expect(texts[0]).toBe(texts[1]);
  });
});

test('An answer that comes although its time is over is none', async () => {
  const hasty = await startExecution(reader.database, { schemas: ['lib'], statementTimeoutMs: 300 });
  expect(await hasty.run('anon', '{ lingeringByPk(id: 1) { id } }')).toMatchObject({
    data: null,
    errors: [{ extensions: { code: 'TIMEOUT' } }],
  });
});
