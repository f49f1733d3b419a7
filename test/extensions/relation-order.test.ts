/** Rows are ordered by the rows that their relationships lead to (extension `relation_order`). */
import { describe, expect, test } from 'vitest';
import { printRoleSchema } from '../../src/graphql/schema/build-schema.ts';
import { blocksRead } from '../support/blocks-read.ts';
import { startExecution } from '../support/execution.ts';
import { createDatabase, createSchema } from '../support/postgres.ts';
import { modelReader } from '../support/read-model.ts';
import { walkPages } from '../support/walk-pages.ts';

const database = await createDatabase(`
  create schema lib; grant usage on schema lib to anon, authenticated;
  comment on schema lib is '@graphql({"inflect_names": true})';
  create table lib.city (id int primary key, name text not null, height int);
  create table lib.author (id int primary key, name text, city_id int references lib.city, mentor_id int references lib.author);
  create table lib.book (id int primary key, author_id int references lib.author, title text not null, pages int, price numeric, weight float8,
    printed date, old boolean, secret boolean not null default false);
  create table lib.passport (author_id int primary key references lib.author, code text not null);
  create table lib.review (id int primary key, book_id int not null references lib.book, stars int);
  comment on table lib.book is '@graphql({"aggregate": {"enabled": true}, "totalCount": {"enabled": true}})';
  insert into lib.city values (1, 'Bern', 540), (2, 'Oslo', null), (3, 'Aix', 173);
  insert into lib.author values (1, 'Ana', 1, null), (2, 'Ben', 2, 1), (3, 'Cid', null, 2), (4, 'Dea', 3, 2), (5, null, null, null);
  insert into lib.passport values (1, 'x'), (3, 'a');
  insert into lib.book values
    (1, 1, 'Alps', 100, 10.5, 0.5, '2020-01-01', true, false), (2, 1, 'Bears', 300, 20, 1.5, '2021-01-01', false, false),
    (3, 1, 'Caves', null, null, null, null, null, false), (4, 2, 'Dunes', 50, 5, 4, '2019-01-01', true, false),
    (5, 4, 'Elks', 700, 99.9, 9, '2022-01-01', true, true), (6, null, 'Fens', 10, 1, 1, null, null, false);
  insert into lib.review values (1, 1, 5), (2, 1, 1), (3, 2, null), (4, 4, 4), (5, 5, 5);
  create view lib.town as select id as town_id, name from lib.city union all select 1, 'Bern again' where false;
  comment on view lib.town is '@graphql({"primary_key_columns": ["town_id"], "foreign_keys": [{"local_name": "residentCollection", "local_columns": ["town_id"],
    "foreign_name": "resident", "foreign_schema": "lib", "foreign_table": "author", "foreign_columns": ["city_id"]}]})';
  create function lib.writers() returns setof lib.author language sql stable as 'select * from lib.author';
  grant select, update, delete on all tables in schema lib to anon, authenticated;
  alter table lib.book enable row level security;
  create policy open on lib.book to anon using (not secret);
  create policy all_of_them on lib.book to authenticated using (true);
`);
const execution = await startExecution(database, { schemas: ['lib'], introspection: 'always' });
const ask = (query: string) => execution.data('anon', query);

/** Ids of the rows of a collection in this order. */
async function ids(field: string, orderBy: string, role = 'anon', given = '', id = 'id'): Promise<number[]> {
  const { c } = await execution.data(role, `{ c: ${field}(orderBy: ${orderBy}${given}) { edges { node { ${id} } } } }`);
  return c.edges.map(({ node }: { node: Record<string, number> }) => node[id]);
}

describe('to-one', () => {
  test.each([
    ['{city: {name: AscNullsLast}}', [4, 1, 2, 3, 5]],
    ['{city: {name: AscNullsFirst}}', [3, 5, 4, 1, 2]],
    ['{city: {name: DescNullsLast}}', [2, 1, 4, 3, 5]],
    ['{city: {name: DescNullsFirst}}', [3, 5, 2, 1, 4]],
    // A null of the related row is like none.
    ['{city: {height: AscNullsLast}}', [4, 1, 2, 3, 5]],
    ['[{city: {height: AscNullsFirst}}, {name: DescNullsLast}]', [3, 2, 5, 4, 1]],
    ['{mentor: {name: AscNullsLast}}', [2, 3, 4, 1, 5]],
    ['{mentor: {mentor: {name: AscNullsLast}}}', [3, 4, 1, 2, 5]],
    ['{mentor: {city: {name: DescNullsLast}}}', [3, 4, 2, 1, 5]],
    ['[{mentor: {city: {name: DescNullsLast}}}, {city: {name: AscNullsFirst}}]', [3, 4, 2, 5, 1]],
    ['[{mentor: {name: DescNullsLast}}, {mentor: {id: AscNullsLast}}, {id: DescNullsLast}]', [4, 3, 2, 5, 1]],
    // The other side of a foreign key that is unique.
    ['{passport: {code: AscNullsLast}}', [3, 1, 2, 4, 5]],
    ['{city: null}', [1, 2, 3, 4, 5]],
    ['{city: {}}', [1, 2, 3, 4, 5]],
    ['[{}, {city: {name: null}}, {name: DescNullsLast}]', [4, 3, 2, 1, 5]],
  ])('%s', async (orderBy, expected) => {
    expect(await ids('authorCollection', orderBy)).toEqual(expected);
    expect(await ids('writers', orderBy)).toEqual(expected);
    expect(await ids('authorCollection', orderBy, 'anon', ', last: 3')).toEqual(expected.slice(2));
    expect(await ids('authorCollection', orderBy, 'anon', ', first: 2, offset: 1')).toEqual(expected.slice(1, 3));
  });

  test('through a key that nothing keeps unique orders by one of the rows, and repeats none', async () => {
    expect(await ids('townCollection', '{resident: {name: AscNullsLast}}', 'anon', '', 'townId')).toEqual([1, 2, 3]);
  });

  test('a relationship that several terms pass is joined once', async () => {
    const orderBy = '[{city: {name: AscNullsLast}}, {city: {height: DescNullsLast}}, {city: {id: AscNullsLast}}]';
    const [statement] = await execution.statements(
      'anon',
      `{ writers(orderBy: ${orderBy}) { edges { node { id } } } }`,
    );
    expect(statement!.text.match(/join "lib"."city"/g)).toHaveLength(1);
  });

  test('a required related row is an inner join, where the role sees all of them', async () => {
    const textOf = async (field: string, orderBy: string) => {
      const [statement] = await execution.statements(
        'anon',
        `{ ${field}(orderBy: ${orderBy}) { edges { node { nodeId } } } }`,
      );
      return statement!.text;
    };
    expect(await textOf('passportCollection', '[{code: AscNullsLast}, {author: {name: AscNullsFirst}}]')).toMatch(
      / as "t\d+" join "lib"/,
    );
    expect(await textOf('authorCollection', '[{id: AscNullsLast}, {city: {name: AscNullsFirst}}]')).toContain(
      ' left join ',
    );
    // Its books are under row security.
    expect(await textOf('reviewCollection', '[{id: AscNullsLast}, {book: {title: AscNullsFirst}}]')).toContain(
      ' left join ',
    );
    const order = '[{author: {id: AscNullsLast}}, {author: {city: {name: AscNullsFirst}}}]';
    expect(await textOf('passportCollection', order)).toMatch(/ join .* left join /);
  });

  test('rows of inheriting tables, whose foreign keys are not enforced, stay in the result', async () => {
    await createSchema(
      database,
      'inherited',
      `
        create table town (id int primary key, name text not null);
        create table house (id int primary key, town_id int not null references town);
        create table villa () inherits (house);
        insert into town values (1, 'Bern'); insert into house values (1, 1); insert into villa values (2, 7);
        grant select on town, house to anon;
    `,
    );
    const on = await startExecution(database, { schemas: ['inherited'] });
    for (const direction of ['AscNullsLast', 'AscNullsFirst']) {
      const data = await on.data(
        'anon',
        `{ houseCollection(orderBy: {town: {name: ${direction}}}) { edges { node { id } } } }`,
      );
      const found = data.houseCollection.edges.map(({ node }: { node: { id: number } }) => node.id);
      expect(found).toEqual(direction === 'AscNullsLast' ? [1, 2] : [2, 1]);
    }
  });
});

describe('to-many', () => {
  test.each([
    // Books of 1: three, of 2: one, of 4: one that anon does not see.
    ['{bookCollection: {count: DescNullsLast}}', [1, 2, 3, 4, 5], [1, 2, 4, 3, 5]],
    ['{bookCollection: {count: AscNullsLast}}', [3, 4, 5, 2, 1], [3, 5, 2, 4, 1]],
    ['{bookCollection: {sum: {pages: DescNullsLast}}}', [1, 2, 3, 4, 5], [4, 1, 2, 3, 5]],
    ['{bookCollection: {avg: {weight: AscNullsLast}}}', [1, 2, 3, 4, 5], [1, 2, 4, 3, 5]],
    ['{bookCollection: {min: {printed: AscNullsFirst}}}', [3, 4, 5, 2, 1], [3, 5, 2, 1, 4]],
    ['{bookCollection: {max: {title: DescNullsLast}}}', [2, 1, 3, 4, 5], [4, 2, 1, 3, 5]],
    ['{bookCollection: {max: {old: DescNullsLast}}}', [1, 2, 3, 4, 5], [1, 2, 4, 3, 5]],
    [
      '[{bookCollection: {count: AscNullsLast}}, {bookCollection: {max: {pages: DescNullsLast}}}, {name: DescNullsLast}]',
      [4, 3, 5, 2, 1],
      [3, 5, 4, 2, 1],
    ],
    ['{mentor: {bookCollection: {count: DescNullsLast}}}', [2, 3, 4, 1, 5], [2, 3, 4, 1, 5]],
    // A missing mentor has no number of books.
    ['{mentor: {bookCollection: {count: AscNullsFirst}}}', [1, 5, 3, 4, 2], [1, 5, 3, 4, 2]],
    ['{bookCollection: {}}', [1, 2, 3, 4, 5], [1, 2, 3, 4, 5]],
    ['{bookCollection: {count: null}}', [1, 2, 3, 4, 5], [1, 2, 3, 4, 5]],
  ])('%s: rows that the role does not see do not count', async (orderBy, hidden, all) => {
    expect(await ids('authorCollection', orderBy)).toEqual(hidden);
    expect(await ids('authorCollection', orderBy, 'authenticated')).toEqual(all);
    expect(await ids('writers', orderBy)).toEqual(hidden);
  });

  test('a count of nothing is zero, other aggregates of nothing are null', async () => {
    const { c } = await ask(`{ c: authorCollection(
      orderBy: [{bookCollection: {count: AscNullsLast}}, {bookCollection: {sum: {price: AscNullsLast}}}, {bookCollection: {min: {printed: AscNullsLast}}}]
    ) { edges { cursor node { id } } } }`);
    const cursors = c.edges.map(({ cursor }: { cursor: string }) => Buffer.from(cursor, 'base64').toString());
    expect(cursors).toEqual([
      '[0, null, null, 3]',
      '[0, null, null, 4]',
      '[0, null, null, 5]',
      '[1, 5, "2019-01-01", 2]',
      '[3, 30.5, "2020-01-01", 1]',
    ]);
  });

  test('one relationship is read once', async () => {
    const orderBy = '[{bookCollection: {count: AscNullsLast}}, {bookCollection: {sum: {price: AscNullsLast}}}]';
    const query = `{ authorCollection(orderBy: ${orderBy}) { edges { node { id } } } }`;
    const [statement] = await execution.statements('anon', query);
    expect(statement!.text.match(/from "lib"."book"/g)).toHaveLength(1);
  });
});

test('nested collections are ordered, each for its parent, with what is beside them', async () => {
  const data = await ask(`{ authorCollection(filter: {id: {lte: 2}}) { edges { node { id
    bookCollection(orderBy: [{reviewCollection: {count: DescNullsLast}}, {author: {city: {name: AscNullsLast}}}], first: 2) {
      totalCount edges { cursor node { title } } pageInfo { hasNextPage } aggregate { count }
    } } } } }`);
  const [ana, ben] = data.authorCollection.edges.map(({ node }: { node: typeof data }) => node.bookCollection);
  expect(ana.edges.map(({ node }: { node: { title: string } }) => node.title)).toEqual(['Alps', 'Bears']);
  expect(ana).toMatchObject({ totalCount: 3, pageInfo: { hasNextPage: true }, aggregate: { count: 3 } });
  expect(ben.edges.map(({ node }: { node: { title: string } }) => node.title)).toEqual(['Dunes']);
  expect(Buffer.from(ana.edges[0].cursor, 'base64').toString()).toBe('[2, "Bern", 1]');
});

describe('paging over related values', () => {
  const directions = ['AscNullsFirst', 'AscNullsLast', 'DescNullsFirst', 'DescNullsLast'] as const;
  const orders = directions.flatMap((direction) => [
    `{city: {name: ${direction}}}`,
    `[{city: {height: ${direction}}}, {name: DescNullsFirst}]`,
    `[{name: AscNullsLast}, {mentor: {city: {name: ${direction}}}}]`,
    `{bookCollection: {count: ${direction}}}`,
    `[{bookCollection: {max: {printed: ${direction}}}}, {city: {name: AscNullsLast}}]`,
    `[{bookCollection: {avg: {weight: ${direction}}}}, {mentor: {name: ${direction}}}]`,
    `{bookCollection: {max: {old: ${direction}}}}`,
  ]);

  test.each(orders)('paging over related values visits each row once in %s', async (orderBy) => {
    const all = await ids('authorCollection', orderBy);
    expect([...all].sort()).toEqual([1, 2, 3, 4, 5]);
    expect(await walkPages(ask, 'authorCollection', { orderBy, size: 1, backward: false })).toEqual(all);
    expect(await walkPages(ask, 'authorCollection', { orderBy, size: 2, backward: true })).toEqual(all);
    expect(await walkPages(ask, 'writers', { orderBy, size: 2, backward: false })).toEqual(all);
  });

  test('paging over related values has the flags of a page in its middle', async () => {
    const { c } = await ask(
      '{ c: authorCollection(orderBy: {city: {name: AscNullsLast}}, first: 2, offset: 1) { pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }',
    );
    const decoded = [c.pageInfo.startCursor, c.pageInfo.endCursor].map((cursor: string) =>
      Buffer.from(cursor, 'base64').toString(),
    );
    expect([c.pageInfo.hasNextPage, c.pageInfo.hasPreviousPage, ...decoded]).toEqual([
      true,
      true,
      '["Bern", 1]',
      '["Oslo", 2]',
    ]);
  });
});

test('the order may come in variables, whole or in part; equal keys give equal text', async () => {
  const whole = 'query ($o: [AuthorOrderBy!]) { c: authorCollection(orderBy: $o) { edges { node { id } } } }';
  const read = async (query: string, variables: Record<string, unknown>) => {
    const data = await execution.data('anon', query, { variables });
    return data.c.edges.map(({ node }: { node: { id: number } }) => node.id);
  };
  expect(await read(whole, { o: [{ city: { name: 'DescNullsLast' } }] })).toEqual([2, 1, 4, 3, 5]);
  expect(await read(whole, { o: { bookCollection: { count: 'AscNullsLast' } } })).toEqual([3, 4, 5, 2, 1]);
  const part =
    'query ($d: OrderByDirection, $c: CityOrderBy) { c: authorCollection(orderBy: [{bookCollection: {count: $d}}, {city: $c}]) { edges { node { id } } } }';
  expect(await read(part, { d: 'AscNullsLast', c: { name: 'AscNullsLast' } })).toEqual([4, 3, 5, 2, 1]);
  const [one] = await execution.statements('anon', whole, { variables: { o: { city: { name: 'DescNullsLast' } } } });
  const [other] = await execution.statements('anon', whole, {
    variables: { o: [{ city: { name: 'DescNullsLast' } }] },
  });
  expect(one!.text).toBe(other!.text);
});

describe('limits', async () => {
  const deep = await startExecution(database, { schemas: ['lib'], limits: { maxDepth: 3 } });
  const cheap = await startExecution(database, { schemas: ['lib'], limits: { maxCost: 10_000 } });
  const select = (given: string) => `{ authorCollection(${given}) { edges { node { id } } } }`;

  test('each relationship counts for the depth', async () => {
    expect((await deep.run('anon', select('orderBy: {mentor: {city: {name: AscNullsLast}}}'))).errors).toBeUndefined();
    const tooDeep = await deep.errors('anon', select('orderBy: {mentor: {mentor: {city: {name: AscNullsLast}}}}'));
    expect(tooDeep).toEqual([expect.stringContaining('depth')]);
  });

  test('an order by all related rows costs a thousand for each parent', async () => {
    const nested = (parents: number) =>
      `{ authorCollection(first: ${parents}) { edges { node { bookCollection(orderBy: {reviewCollection: {count: AscNullsLast}}) { edges { node { id } } } } } } }`;
    expect(
      (await cheap.run('anon', select('orderBy: {bookCollection: {count: AscNullsLast}}'))).errors,
    ).toBeUndefined();
    expect((await cheap.run('anon', nested(5))).errors).toBeUndefined();
    expect(await cheap.errors('anon', nested(11))).toEqual([expect.stringContaining('cost')]);
  });
});

test('an order of related rows that the role may not read is not there, and displaces nothing', async () => {
  await database.query(`
    create schema names; grant usage on schema names to anon; comment on schema names is '@graphql({"inflect_names": true})';
    create table names.place (id int primary key, name text, height int);
    create table names.person (id int primary key, place text, place_id int references names.place, home_id int references names.place, age int, born timestamptz);
    create table names.hidden (id int primary key, person_id int references names.person);
    create table names.person_aggregate_column_filter (id int primary key);
    comment on table names.person is '@graphql({"aggregate": {"enabled": true}})';
    grant select (id, name) on names.place to anon; grant select on names.person, names.person_aggregate_column_filter to anon;
  `);
  const reader = modelReader(database);
  const sdl = printRoleSchema(await reader.model(['names'])).replace(/"""[\s\S]*?"""/g, '');
  const input = (name: string) => new RegExp(`^input ${name} \\{[^}]*\\}`, 'm').exec(sdl)?.[0].replace(/\s+/g, ' ');
  expect(input('PersonOrderBy')).toBe(
    'input PersonOrderBy { id: OrderByDirection place: OrderByDirection placeId: OrderByDirection homeId: OrderByDirection age: OrderByDirection born: OrderByDirection home: PlaceOrderBy }',
  );
  expect(input('PlaceOrderBy')).toBe(
    'input PlaceOrderBy { id: OrderByDirection name: OrderByDirection personCollection: PersonAggregateOrderBy }',
  );
  expect(input('PersonAggregateOrderBy')).toBe(
    'input PersonAggregateOrderBy { key: PersonOrderBy count: OrderByDirection sum: PersonOrderBy avg: PersonOrderBy min: PersonOrderBy max: PersonOrderBy stddev: PersonOrderBy variance: PersonOrderBy }',
  );
  expect(sdl).toContain('type PersonAggregateColumnFilter implements Node');
  const reasons = (await reader.omissions(['names'])).map(({ reason }) => reason);
  expect(reasons).toContain(
    'Table names.person has no order by its relationship "place": the order has another entry of that name.',
  );
  expect(reasons.join()).toContain('would have the type "PersonAggregateColumnFilter"');
  expect(printRoleSchema(await modelReader(database, []).model(['names']))).not.toMatch(
    /OrderBy: |home: PlaceOrderBy|AggregateOrderBy/,
  );
});

describe('with as many blocks as 200,000 rows have, indexes serve', async () => {
  await createSchema(
    database,
    'big',
    `
    comment on schema big is '@graphql({"inflect_names": true})';
    create table customer (id int primary key, tenant int not null, email text not null unique, note text) with (fillfactor = 10);
    create table parcel (id int primary key, tenant int not null, customer_id int not null, sender_id int) with (fillfactor = 10);
    insert into customer select n, n % 10, 'c' || n, case when n % 50 > 0 then 'n' || n end from generate_series(1, 4000) n;
    insert into parcel select n, n % 10, 1 + (n * 7) % 4000, nullif(1 + n % 4000, 4000) from generate_series(1, 40000) n;
    create index on parcel (customer_id); create index on parcel (sender_id); create index on customer (note, id);
    -- With the rows there, one join checks them all.
    alter table parcel add foreign key (customer_id) references customer, add foreign key (sender_id) references customer;
    create table ward (id int primary key, tenant int not null, customer_id int not null) with (fillfactor = 10);
    insert into ward select * from (select id, tenant, customer_id from parcel) p; create index on ward (customer_id);
    alter table ward add foreign key (customer_id) references customer;
    alter table ward enable row level security; create policy own on ward using (tenant = (select 1));
    create table client (like customer including all); insert into client select * from customer;
    create function title(c customer) returns text immutable language plpgsql as 'begin return upper(c.email); end';
    comment on function title(customer) is '@graphql({"order": true})'; create index on customer (title(customer), id);
    create function title(c client) returns text immutable language plpgsql as 'begin return upper(c.email); end';
    comment on function title(client) is '@graphql({"order": true})'; create index on client (title(client), id);
    create table box (id int primary key, tenant int not null, client_id int not null, rating int, lot int not null) with (fillfactor = 10);
    -- Of ten boxes of a tenant one belongs to a client of another.
    insert into box select n, n % 10, case when n % 100 = 1 then 2 when n % 10 = 0 then 10 else n % 10 end + 10 * (n / 10 * 7 % 400), case when n % 3 > 0 then n end,
      abs(hashint4(n) % 8000) from generate_series(1, 40000) n;
    create index on box (client_id); create index on box (tenant, id); create index on client (tenant, id); create index on box (rating, id);
    alter table box add foreign key (client_id) references client;
    alter table client enable row level security; create policy own on client using (tenant = (select 1));
    alter table box enable row level security; create policy own on box using (tenant = (select 1));
    grant select on customer, parcel, ward, client, box to anon, service_role;
    analyze;
  `,
  );
  const on = await startExecution(database, { schemas: ['big'] });
  const blocks = await blocksRead(database, on);
  const encode = (elements: unknown) => Buffer.from(JSON.stringify(elements)).toString('base64');

  // A scan of all parcels reads more than a thousand blocks.
  test.each([
    ['a row that all have', 'parcelCollection(first: 20, orderBy: {customer: {email: AscNullsLast}})'],
    ['the same, the last of them', 'parcelCollection(last: 20, orderBy: {customer: {email: AscNullsLast}})'],
    ['the same, nulls first', 'parcelCollection(first: 20, orderBy: {customer: {email: DescNullsFirst}})'],
    ['a row that some have', 'parcelCollection(first: 20, orderBy: {sender: {email: AscNullsLast}})'],
    ['a value that some have', 'parcelCollection(first: 20, orderBy: {sender: {note: AscNullsLast}})'],
    ['under row security', 'wardCollection(first: 20, orderBy: {customer: {email: AscNullsLast}})'],
    [
      'behind a cursor',
      `parcelCollection(first: 20, orderBy: {sender: {email: AscNullsLast}}, after: "${encode(['c15', 15])}")`,
    ],
    [
      'before a cursor',
      `parcelCollection(last: 20, orderBy: {customer: {email: AscNullsLast}}, before: "${encode(['c15', 15])}")`,
    ],
    [
      'a row that all have, nulls at the other end',
      'parcelCollection(first: 20, orderBy: {customer: {email: DescNullsLast}})',
    ],
    [
      'a row that some have, nulls at the other end',
      'parcelCollection(first: 20, orderBy: {sender: {email: DescNullsLast}})',
    ],
    ['a row that some have, nulls first', 'parcelCollection(first: 20, orderBy: {sender: {email: AscNullsFirst}})'],
    ['a function of it', 'parcelCollection(first: 20, orderBy: {sender: {title: AscNullsLast}})'],
    ['a row that is hidden from the role', 'boxCollection(first: 20, orderBy: {client: {email: AscNullsLast}})'],
    ['the same, nulls at the other end', 'boxCollection(first: 20, orderBy: {client: {email: DescNullsLast}})'],
    ['a function of it', 'boxCollection(first: 20, orderBy: {client: {title: AscNullsLast}})'],
    ['a value of its own that some have', 'boxCollection(first: 20, orderBy: {rating: DescNullsLast})'],
    [
      'the same, of half of the rows',
      'boxCollection(first: 20, orderBy: {rating: DescNullsLast}, filter: {lot: {lt: 4000}})',
    ],
    [
      'a row that some have, of half of the rows',
      'boxCollection(first: 20, orderBy: {client: {email: AscNullsLast}}, filter: {lot: {lt: 4000}})',
    ],
    [
      'the number of related rows, of a few',
      'customerCollection(filter: {id: {lt: 30}}, orderBy: {parcelCollection: {count: DescNullsLast}}, first: 20)',
    ],
  ])('%s', async (_, field) => {
    const query = `{ c: ${field} { edges { node { id } } pageInfo { hasNextPage hasPreviousPage } } }`;
    for (const role of ['anon', 'service_role']) {
      expect((await on.data(role, query)).c.edges).toHaveLength(20);
      expect(await blocks(role, query), role).toBeLessThan(900);
    }
  });

  // No index finds the few rows, so that each part of the rows is read as a whole.
  test.each([
    ['values of their own', '{rating: DescNullsLast}', 2],
    ['rows that may be hidden', '{client: {email: AscNullsLast}}', 3],
  ])('a page that is not full is read once for each part: by %s', async (_, orderBy, parts) => {
    const [size] = await database.query<{ blocks: number }>(
      `select sum(pg_relation_size(c)) / 8192 as blocks from unnest('{big.box,big.client}'::regclass[]) c`,
    );
    const query = `{ c: boxCollection(first: 20, orderBy: ${orderBy}, filter: {lot: {eq: 7}}) { edges { node { id } } } }`;
    for (const role of ['anon', 'service_role']) {
      expect((await on.data(role, query)).c.edges.length).toBeLessThan(20);
      expect(await blocks(role, query), role).toBeLessThan(parts * Number(size!.blocks) + 100);
    }
  });
});
