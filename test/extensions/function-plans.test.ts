/**
 * Of as many blocks as 120,000 rows have, those that functions filter and order are found by indexes: of what the body of an SQL function compares, as PostgreSQL
 * puts it into the statement, or of the value of the function. With geometry, cubes and trigrams, which the gateway knows nothing of.
 */
import { describe, expect, test } from 'vitest';
import { blocksRead } from '../support/blocks-read.ts';
import { type Json, startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const both = (name: string) => `comment on function ${name} is '@graphql({"filter": true, "order": true})';`;

const database = await createDatabase(
  `create extension cube; create extension pg_trgm;
  comment on schema public is '@graphql({"inflect_names": true})';
  create table town (id int primary key, name text not null);
  create table place (id int primary key, tenant int not null, town_id int not null, name text not null, spot point, embedding cube) with (fillfactor = 10);
  insert into town select n, 'Town ' || lpad(((n * 7919) % 1200)::text, 5, '0') from generate_series(1, 1200) n;
  -- Every tenth has a cube: an index of cubes is made slowly.
  insert into place select n, n % 10, n % 1200 + 1, left(md5(n::text), 12), point(n % 100, n / 100),
    case when n % 100 < 10 then cube(array[n % 100, n / 100, n % 7]) end
    from generate_series(1, 12000) n;
  alter table place add foreign key (town_id) references town;
  create table guarded (like place including all) with (fillfactor = 10);
  insert into guarded select * from place;
  alter table guarded enable row level security; create policy own on guarded to anon using (tenant = (select 1));

  create function near(p place, x float8, y float8, within float8) returns boolean immutable language sql as 'select p.spot <@ circle(point(x, y), within)'; ${both('near')}
  create function distance(p place, x float8, y float8) returns float8 immutable language sql as 'select p.spot <-> point(x, y)'; ${both('distance')}
  create function similar_to(p place, word text) returns boolean stable language sql as 'select p.name % word'; ${both('similar_to')}
  create function inside(p place, low float8[], high float8[]) returns boolean immutable language sql as 'select p.embedding <@ cube(low, high)'; ${both('inside')}
  -- Not a body that can be put into a statement.
  create function label(p place) returns text immutable language plpgsql as 'begin return lower(p.name); end'; ${both('label(place)')}
  create function label(p guarded) returns text immutable language plpgsql as 'begin return lower(p.name); end'; ${both('label(guarded)')}
  create function title(t town) returns text immutable language plpgsql as 'begin return upper(t.name); end'; ${both('title')}
  create index on place using gist (spot); create index on place using gist (embedding); create index on place using gin (name gin_trgm_ops);
  create index on place (label(place)); create index on guarded (label(guarded)); create index on town (title(town)); create index on place (town_id);
  create index on guarded (tenant);
  grant select on place, town, guarded to anon, service_role`,
  'vacuum analyze',
);
const execution = await startExecution(database, {});
const blocks = await blocksRead(database, execution);
const [{ version }] = (await database.query<{ version: number }>(
  `select current_setting('server_version_num')::int as version`,
)) as [{ version: number }];

const ids = async (field: string, given: string, role = 'anon'): Promise<number[]> => {
  const data = await execution.data(role, `{ ${field}(${given}) { edges { node { id } } } }`);
  return data[field].edges.map(({ node }: Json) => node.id);
};
const read = (field: string, given: string, role = 'anon') =>
  blocks(role, `{ ${field}(${given}) { edges { node { id } } } }`);

describe('filters', () => {
  test.each([
    ['near: {x: 50, y: 50, within: 1}', [4950, 5049, 5050, 5051, 5150]],
    ['inside: {low: [3, 3, 0], high: [4, 4, 7]}', [303, 304, 403, 404]],
    ['similarTo: {word: "c4ca4238a0b9"}', [1]],
    ['label: {eq: "c4ca4238a0b9"}', [1]],
    ['label: {gte: "ffa", lt: "fff"}', null],
    ['near: {x: 50, y: 50, within: 5}, label: {startsWith: "a"}', null],
  ])('%s', async (filter, expected) => {
    const found = await ids('placeCollection', `filter: {${filter}}`);
    if (expected) expect(found).toEqual(expected);
    else expect(found.length).toBeGreaterThan(0);
    expect(await read('placeCollection', `filter: {${filter}}`)).toBeLessThan(300);
  });

  test('of related rows', async () => {
    const given = 'filter: {placeCollection: {some: {near: {x: 50, y: 50, within: 1}}}}';
    expect(await ids('townCollection', given)).toHaveLength(5);
    expect(await read('townCollection', given)).toBeLessThan(300);
    const toOne = 'filter: {town: {title: {eq: "TOWN 00719"}}}';
    expect(await ids('placeCollection', toOne)).toHaveLength(10);
    expect(await read('placeCollection', toOne)).toBeLessThan(300);
  });

  test('under policies, which come first, no index of a function serves', async () => {
    const given = 'filter: {label: {eq: "c4ca4238a0b9"}}';
    expect([await ids('guardedCollection', given), await ids('guardedCollection', given, 'service_role')]).toEqual([
      [1],
      [1],
    ]);
    expect(await read('guardedCollection', given, 'service_role')).toBeLessThan(300);
    expect(await read('guardedCollection', given)).toBeGreaterThan(500);
  });
});

describe('orders', () => {
  test('by the value of a function, its first page and those behind a cursor, under policies too', async () => {
    for (const field of ['placeCollection', 'guardedCollection']) {
      for (const direction of ['AscNullsLast', 'DescNullsFirst']) {
        const order = `orderBy: {label: ${direction}}, first: 20`;
        expect(await read(field, order), `${field} ${direction}`).toBeLessThan(300);
      }
    }
    const { placeCollection } = await execution.data(
      'anon',
      '{ placeCollection(orderBy: {label: AscNullsLast}, first: 30) { edges { node { label } } pageInfo { endCursor } } }',
    );
    const labels = placeCollection.edges.map(({ node }: Json) => node.label);
    expect(labels).toEqual([...labels].sort());
    expect(
      await read(
        'placeCollection',
        `orderBy: {label: AscNullsLast}, first: 20, after: "${placeCollection.pageInfo.endCursor}"`,
      ),
    ).toBeLessThan(300);
  });

  test('by the value of a function of the row that each row has', async () => {
    expect(await read('placeCollection', 'orderBy: {town: {title: AscNullsLast}}, first: 20')).toBeLessThan(300);
  });

  test('by distance', async () => {
    const order = 'orderBy: {distance: {x: 50.2, y: 50.1}}, first: 5';
    expect(await ids('placeCollection', order)).toEqual([5050, 5051, 5150, 4950, 5151]);
    const near = `filter: {near: {x: 50, y: 50, within: 5}}, ${order}`;
    expect(await ids('placeCollection', near)).toEqual([5050, 5051, 5150, 4950, 5151]);
    expect(await read('placeCollection', near)).toBeLessThan(300);
    // Before PostgreSQL 17 an index by distance serves no order with something behind the distance.
    const all = await read('placeCollection', order);
    if (version >= 170_000) expect(all).toBeLessThan(300);
    else expect(all).toBeGreaterThan(500);
  });
});
