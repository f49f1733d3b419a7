/** Groups by columns of the row that a to-one relationship leads to (docs/aggregates.md). */
import { describe, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';
import { modelReader } from '../support/read-model.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create table land (id int primary key, name text not null);
  create table town (id int primary key, land_id int references land, name text, founded date, area numeric, secret text);
  create table shop (id int primary key, town_id int references town, rival_id int references shop, name text not null);
  create table sale (id int primary key, shop_id int not null references shop, price numeric, at timestamptz);
  create table visit (id int primary key, sale_id int unique references sale, "column" int, truncate int references town, at_town text, at_town_id int references town);
  comment on table sale is '@graphql({"aggregate": {"enabled": true}})';
  comment on table shop is '@graphql({"aggregate": {"enabled": true}})';
  comment on table visit is '@graphql({"aggregate": {"enabled": true}})';
  comment on column visit.truncate is '@graphql({"name": "truncateId"})';
  comment on constraint visit_truncate_fkey on visit is '@graphql({"foreign_name": "truncate"})';
  comment on constraint visit_at_town_id_fkey on visit is '@graphql({"foreign_name": "atTown"})';
  insert into land values (1, 'CH'), (2, 'NO');
  insert into town values (1, 1, 'Bern', '1191-03-01', 52, 'x'), (2, 2, 'Oslo', '1040-01-01', 480, 'y'), (3, 1, null, null, null, 'z'), (4, 2, 'Hid', null, null, 'h');
  insert into shop values (1, 1, null, 'a'), (2, 1, 1, 'b'), (3, 2, 1, 'c'), (4, null, 2, 'd'), (5, 3, 2, 'e'), (6, 4, null, 'f');
  insert into sale values (1, 1, 10, '2024-01-31 23:30+00'), (2, 2, 20, '2024-01-31 23:30+00'), (3, 3, 5, '2024-02-01 10:00+00'), (4, 4, 1, null), (5, 5, 2, null), (6, 6, 100, null);
  insert into visit values (1, 1, 7, 1, 'here', 2), (2, null, 7, null, 'there', 2);
  grant select on land, shop, sale, visit to anon, authenticated; grant select (id, land_id, name, founded, area) on town to anon; grant select on town to authenticated;
  alter table town enable row level security;
  create policy shown on town to anon using (id <> 4); create policy all_of_them on town to authenticated using (true);
`);
const execution = await startExecution(database, { introspection: 'always' });

async function groups(from: string, given: string, selection: string, role = 'anon') {
  const query = `{ ${from} { groups(${given}) { ${selection} } } }`;
  return (Object.values(await execution.data(role, query))[0] as { groups: unknown[] }).groups;
}

test('a key is a column of the related row; without such a row it is null', async () => {
  const given = 'by: {shop: {town: {column: name}}}, orderBy: {sum: {price: DescNullsLast}}';
  const selection = 'key { __typename shopId shop { __typename name town { name area } } } count sum { price }';
  const key = (name: string | null) => ({
    __typename: 'SaleGroupKey', shopId: null, shop: { __typename: 'ShopGroupKey', name: null, town: { name, area: null } },
  }); // biome-ignore format: one line
  // A shop without a town, with a town without a name, and with a hidden town are one group.
  const hidden = { key: key(null), count: 3, sum: { price: 103 } };
  const shown = [
    { key: key('Bern'), count: 2, sum: { price: 30 } },
    { key: key('Oslo'), count: 1, sum: { price: 5 } },
  ];
  expect(await groups('saleCollection', given, selection)).toEqual([hidden, ...shown]);
  const all = await groups('saleCollection', given, selection, 'authenticated');
  expect(all).toEqual([
    { key: key('Hid'), count: 1, sum: { price: 100 } },
    ...shown,
    { key: key(null), count: 2, sum: { price: 3 } },
  ]);
});

test('keys stand beside each other, and order the groups', async () => {
  const by = 'by: [{shop: {town: {column: name}}}, {shop: {town: {land: {column: name}}}}, {column: price}]';
  const keysOf = async (order: string) => {
    const found = await groups('saleCollection', `${by}, orderBy: ${order}, first: 3`, 'key { price shop { town { name land { name } } } }');
    return (found as { key: { price: string; shop: { town: { name: string; land: { name: string } } } } }[]).map(
      ({ key: { price, shop: { town } } }) => [town.name, town.land.name, price],
    );
  }; // biome-ignore format: short
  expect(await keysOf('[{key: {shop: {town: {land: {name: DescNullsLast}}}}}, {key: {price: DescNullsLast}}]')).toEqual(
    [
      ['Oslo', 'NO', '5'],
      ['Bern', 'CH', '20'],
      ['Bern', 'CH', '10'],
    ],
  );
  // The keys end the order, ascending, nulls last.
  expect(await keysOf('{count: AscNullsLast}')).toEqual([
    ['Bern', 'CH', '10'],
    ['Bern', 'CH', '20'],
    ['Oslo', 'NO', '5'],
  ]);
});

test('dates of the related row are truncated, and having, filters, nested collections and one-to-one rows go with it', async () => {
  const century = 'by: {town: {column: founded, truncate: YEAR}}, having: {count: {gt: 1}}';
  expect(await groups('shopCollection(filter: {id: {lt: 6}})', century, 'key { town { founded } } count')).toEqual([
    { key: { town: { founded: '1191-01-01' } }, count: 2 },
    { key: { town: { founded: null } }, count: 2 },
  ]);
  const month = 'by: {sale: {column: at, truncate: MONTH, timeZone: "Europe/Zurich"}}';
  expect(await groups('visitCollection', month, 'key { sale { at } } count')).toEqual([
    { key: { sale: { at: '2024-01-31T23:00:00+00:00' } }, count: 1 },
    { key: { sale: { at: null } }, count: 1 },
  ]);
  const data = await execution.data(
    'anon',
    '{ shopCollection(filter: {id: {lte: 2}}) { edges { node { shopCollection { groups(by: {town: {column: name}}) { key { town { name } } count } } } } } }',
  );
  expect(
    data.shopCollection.edges.map(({ node }: { node: { shopCollection: object } }) => node.shopCollection),
  ).toEqual([
    {
      groups: [
        { key: { town: { name: 'Bern' } }, count: 1 },
        { key: { town: { name: 'Oslo' } }, count: 1 },
      ],
    },
    { groups: [{ key: { town: { name: null } }, count: 2 }] },
  ]);
  const query = 'query ($by: [SaleGroupBy!]!) { saleCollection { groups(by: $by) { key { shop { name } } } } }';
  const variables = { by: [{ shop: { column: 'name' } }] };
  expect((await execution.data('anon', query, { variables })).saleCollection.groups[0]).toEqual({
    key: { shop: { name: 'a' } },
  });
});

describe('what is no key is refused', () => {
  test.each([
    ['by: {}', 'A key of "by" is one column: give one.', 'by'],
    ['by: {column: id, shop: {column: name}}', 'A key of "by" is one column: give one.', 'by'],
    ['by: {shop: {}}', 'A key of "by" is one column: give one.', 'by.shop'],
    ['by: {shop: {column: name}, truncate: DAY}', '"truncate" and "timeZone" stand beside "column".', 'by.truncate'],
    ['by: [{shop: {column: name}}, {shop: {column: name}}]', '"by" names "name" twice. Rows are grouped by a column once.', 'by[1]'],
    ['by: {shop: {column: name}}, orderBy: {key: {shop: {id: AscNullsLast}}}', 'Groups cannot be ordered by "id", which is not in "by".', 'orderBy[0].key.shop.id'],
    ['by: {shop: {column: name}}, orderBy: {key: {id: AscNullsLast}}', 'Groups cannot be ordered by "id", which is not in "by".', 'orderBy[0].key.id'],
    ['by: {shop: {column: name}}, orderBy: {key: {visit: {id: AscNullsLast}}}', 'Groups cannot be ordered by "id", which is not in "by".', 'orderBy[0].key.visit.id'],
  ])('%s', async (given, message, input) => {
    const { errors } = await execution.run('anon', `{ saleCollection { groups(${given}) { count } } }`);
    expect(errors).toMatchObject([{ message }]);
    expect(errors![0].extensions.input.replace('by[0]', 'by')).toBe(input);
  }); // biome-ignore format: a table
});

test('depth and cost count the relationships', async () => {
  const deep = await startExecution(database, { limits: { maxDepth: 3 } });
  const query = (by: string) => `{ saleCollection { groups(by: ${by}) { count } } }`;
  expect((await deep.run('anon', query('{shop: {town: {column: name}}}'))).errors).toBeUndefined();
  expect(await deep.errors('anon', query('{shop: {town: {land: {column: name}}}}'))).toEqual([
    expect.stringContaining('depth'),
  ]);
  const cheap = await startExecution(database, { limits: { maxCost: 2500 } });
  expect((await cheap.run('anon', query('{column: price}'))).errors).toBeUndefined();
  expect(await cheap.errors('anon', query('[{shop: {column: name}}, {shop: {town: {column: name}}}]'))).toEqual([
    expect.stringContaining('cost'),
  ]);
});

test('names that are taken are left out and reported; columns without SELECT are none', async () => {
  const fields = async (type: string) => {
    const query = `{ __type(name: "${type}") { fields { name } inputFields { name type { kind } } enumValues { name } } }`;
    const { __type } = await execution.data('anon', query);
    return (
      (__type?.fields ?? __type?.inputFields ?? __type?.enumValues)?.map(({ name }: { name: string }) => name) ?? null
    );
  };
  expect(await fields('VisitGroupBy')).toEqual(['column', 'truncate', 'timeZone', 'sale']);
  expect(await fields('VisitGroupKey')).toEqual(['id', 'saleId', 'column', 'truncateId', 'atTown', 'atTownId', 'sale']);
  expect(await fields('TownColumn')).toEqual(['id', 'landId', 'name', 'founded', 'area']);
  expect(await fields('TownGroupKey')).toEqual(['id', 'landId', 'name', 'founded', 'area', 'land']);
  expect(await fields('TownAggregate')).toBeNull();
  const reasons = (await modelReader(database).omissions(['public'])).map(({ reason }) => reason);
  expect(reasons).toContain(
    'Table public.visit has no group by its relationship "truncate": the group has another entry of that name.',
  );
  expect(
    await execution.errors('anon', '{ shopCollection { groups(by: {town: {column: secret}}) { count } } }'),
  ).toEqual([expect.stringContaining('"secret" does not exist in "TownColumn"')]);
});
