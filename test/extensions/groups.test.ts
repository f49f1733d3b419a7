/** The rows of a connection in groups of equal values (extension `groups`), and how many different values there are. */
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { blocksRead } from '../support/blocks-read.ts';
import { startExecution } from '../support/execution.ts';
import { createDatabase, createSchema } from '../support/postgres.ts';
import { modelReader } from '../support/read-model.ts';
import { atEnd } from '../support/when-over.ts';

const database = await createDatabase(`
  create schema shop; grant usage on schema shop to anon, authenticated;
  comment on schema shop is '@graphql({"inflect_names": true})';
  create extension citext schema shop;
  create type shop.state as enum ('new', 'paid', 'on-hold');
  comment on type shop.state is '@graphql({"mappings": {"on-hold": "ON_HOLD"}})';
  create domain shop.moment as timestamptz;
  create table shop.buyer (id int primary key, name text not null, pin text);
  create table shop.sale (
    id int primary key, buyer_id int references shop.buyer, state shop.state, label shop.citext, big bigint, price numeric, weight float8, paid boolean,
    day date, at timestamptz, local timestamp, clock time, often shop.moment, span interval, tags text[], data jsonb, code char(3), secret text, hidden boolean not null default false);
  comment on table shop.sale is '@graphql({"aggregate": {"enabled": true}, "totalCount": {"enabled": true}})';
  create table shop.line (id int primary key, sale_id int not null references shop.sale, amount int);
  insert into shop.buyer values (1, 'Ana', 'x'), (2, 'Ben', 'y'), (3, 'Cid', 'z');
  insert into shop.sale values
    (1, 1, 'new', 'Red', 9007199254740993, 10.50, 0.5, true, '2024-01-31', '2024-01-31 23:30+00', '2024-01-31 23:30', '10:15', '2024-01-31 23:30+00', '1 day', '{a}', '{}', 'a', 'p', false),
    (2, 1, 'paid', 'red', 9007199254740993, 20, 1.5, true, '2024-02-01', '2024-02-01 10:00+00', '2024-02-01 10:00', '10:45', '2024-02-01 10:00+00', '1 day', '{b}', null, 'a', 'p', false),
    (3, 2, 'new', 'blue', 1, null, null, false, '2024-02-29', '2024-02-29 12:00+00', '2024-02-29 12:00', '11:00', '2024-02-29 12:00+00', null, null, null, 'b', 'q', false),
    (4, 2, 'on-hold', null, null, 5, 2, null, '2025-01-01', '2024-12-31 23:00+00', '2025-01-01', '00:00:01', null, null, null, null, null, 'q', false),
    (5, null, null, 'BLUE', null, 7, 3, null, null, null, null, null, null, null, null, null, 'b', 'q', false),
    (6, 3, 'paid', 'x', 5, 1000, 9, true, '2024-02-10', '2024-02-10 12:00+00', null, null, null, null, null, null, null, 'q', true);
  insert into shop.line values (1, 1, 5), (2, 1, 7), (3, 3, 1);
  grant select on shop.sale, shop.line, shop.buyer to authenticated;
  grant select (id, name) on shop.buyer to anon; grant select on shop.line to anon;
  grant select (id, buyer_id, state, label, big, price, weight, paid, day, at, local, clock, often, span, tags, data, code, hidden) on shop.sale to anon;
  alter table shop.sale enable row level security;
  create policy open on shop.sale to anon using (not hidden);
  create policy all_of_them on shop.sale to authenticated using (true);
  create view shop.sold as select id, state, price from shop.sale;
  comment on view shop.sold is '@graphql({"primary_key_columns": ["id"], "aggregate": {"enabled": true}})';
  alter view shop.sold owner to anon;
  create function shop.sales() returns setof shop.sale stable language sql as 'select * from shop.sale where id < 4';
  create function shop.loud_sales() returns setof shop.sale volatile language plpgsql as
    $$ begin perform nextval('shop.calls'); return query select * from shop.sale where id < 4; end $$;
  create sequence shop.calls; grant usage, select on sequence shop.calls to authenticated;
  grant select on shop.sold to anon;
`);
const options = { schemas: ['shop'], introspection: 'always' } as const;
const execution = await startExecution(database, options);

/** The groups of sales. @param given Arguments of `groups`, without parentheses. */
async function groups(given: string, selection: string, from: Given = {}) {
  const { filter = '{}', role = 'anon', variables = {}, declared = '' } = from;
  const query = `query ${declared} { saleCollection(filter: ${filter}) { groups(${given}) { ${selection} } } }`;
  return (await execution.data(role, query, { variables })).saleCollection.groups;
}

interface Given {
  readonly filter?: string;
  readonly role?: string;
  readonly variables?: Record<string, unknown>;
  readonly declared?: string;
}

/** A key and a count of each group. */
async function counts(by: string, key: string, rest = '', from: Given = {}) {
  const found = await groups(`by: [${by}]${rest}`, `key { ${key} } count`, from);
  return found.map((group: { key: Record<string, unknown>; count: number }) => [group.key[key], group.count]);
}

async function refusal(given: string, variables: Record<string, unknown> = {}, declared = '') {
  const query = `query ${declared} { saleCollection { groups(${given}) { count } } }`;
  const { errors } = await execution.run('anon', query, { variables });
  return errors?.map(
    ({
      message,
      path,
      extensions,
    }: {
      message: string;
      path: string[];
      extensions: { code: string; input?: string };
    }) => [message, path?.join('.'), extensions.code, extensions.input],
  )[0];
}

describe('the keys', () => {
  test('the keys are nullable values of the types of their columns, null is a group of its own', async () => {
    expect(await counts('{column: state}', 'state')).toEqual([
      ['new', 2],
      ['paid', 1],
      ['ON_HOLD', 1],
      [null, 1],
    ]);
    expect(await counts('{column: buyerId}', 'buyerId')).toEqual([
      [1, 2],
      [2, 2],
      [null, 1],
    ]);
    expect(await counts('{column: big}', 'big')).toEqual([
      ['1', 1],
      ['9007199254740993', 2],
      [null, 2],
    ]);
    expect(await counts('{column: paid}', 'paid')).toEqual([
      [false, 1],
      [true, 2],
      [null, 2],
    ]);
    expect(await counts('{column: code}', 'code')).toEqual([
      ['a  ', 2],
      ['b  ', 2],
      [null, 1],
    ]);
  });

  test('of citext are equal in its own way', async () => {
    const found = await counts('{column: label}', 'label');
    expect(found.map(([label, count]: [string | null, number]) => [label?.toLowerCase(), count])).toEqual([
      ['blue', 2],
      ['red', 2],
      [undefined, 1],
    ]);
  });

  test('the keys may be several; columns that are not grouped by are null', async () => {
    expect(
      await groups('by: [{column: buyerId}, {column: state}]', 'key { __typename state buyerId price } count'),
    ).toEqual([
      { key: { __typename: 'SaleGroupKey', state: 'new', buyerId: 1, price: null }, count: 1 },
      { key: { __typename: 'SaleGroupKey', state: 'paid', buyerId: 1, price: null }, count: 1 },
      { key: { __typename: 'SaleGroupKey', state: 'new', buyerId: 2, price: null }, count: 1 },
      { key: { __typename: 'SaleGroupKey', state: 'ON_HOLD', buyerId: 2, price: null }, count: 1 },
      { key: { __typename: 'SaleGroupKey', state: null, buyerId: null, price: null }, count: 1 },
    ]);
  });

  test('the keys need not be selected', async () => {
    expect(await groups('by: [{column: state}]', '__typename n: count')).toEqual([
      ...[2, 1, 1, 1].map((n) => ({ __typename: 'SaleAggregate', n })),
    ]);
    expect(await groups('by: {column: state}, first: 1', '__typename')).toEqual([{ __typename: 'SaleAggregate' }]);
  });

  test('all rows together have no keys: they are null', async () => {
    const aggregate = 'aggregate { key { __typename state price } count }';
    const { saleCollection } = await execution.data('anon', `{ saleCollection { ${aggregate} } }`);
    expect(saleCollection.aggregate).toEqual({
      key: { __typename: 'SaleGroupKey', state: null, price: null },
      count: 5,
    });
    const alone = await execution.data('anon', '{ saleCollection { aggregate { key { state } } } }');
    expect(alone.saleCollection.aggregate).toEqual({ key: { state: null } });
  });

  test('the keys are variables, in whole or in part', async () => {
    const from = { declared: '($by: [SaleGroupBy!]!)', variables: { by: [{ column: 'state' }] } };
    const whole = await groups('by: $by', 'key { state } count', from);
    expect(whole).toEqual(await groups('by: [{column: state}]', 'key { state } count'));
    const part = { declared: '($c: SaleColumn!)', variables: { c: 'state' } };
    expect(await groups('by: {column: $c}', 'key { state } count', part)).toEqual(whole);
  });

  test('the keys are the columns that can be told apart, without those that the role may not select', async () => {
    const names = async (role: string, type: string) => {
      const query = `{ __type(name: "${type}") { fields { name type { name } } enumValues { name } } }`;
      const { __type } = await execution.data(role, query);
      return (__type.fields ?? __type.enumValues).map(({ name }: { name: string }) => name);
    };
    // No interval, list or JSON.
    const shown = ['id', 'buyerId', 'state', 'label', 'big', 'price', 'weight', 'paid', 'day', 'at', 'local', 'clock', 'often', 'code', 'hidden']; // biome-ignore format: a list of names
    expect(await names('anon', 'SaleColumn')).toEqual(shown);
    expect(await names('anon', 'SaleGroupKey')).toEqual([...shown, 'buyer']);
    expect(await names('anon', 'SaleDistinctCount')).toEqual(shown);
    expect(await names('authenticated', 'SaleColumn')).toContain('secret');
    expect(await execution.errors('anon', '{ saleCollection { groups(by: [{column: secret}]) { count } } }')).toEqual([
      'Value "secret" does not exist in "SaleColumn" enum.',
    ]);
  });

  test.each([
    ['[]', '"by" is empty. Name at least one column.', 'by'],
    ['[{column: state}, {column: state}]', '"by" names "state" twice. Rows are grouped by a column once.', 'by[1]'],
    [
      '[{column: at, truncate: DAY}, {column: at, truncate: YEAR}]',
      '"by" names "at" twice. Rows are grouped by a column once.',
      'by[1]',
    ],
  ])('the keys are refused: %s', async (by, message, input) => {
    expect(await refusal(`by: ${by}`)).toEqual([message, 'saleCollection', 'BAD_USER_INPUT', input]);
  });

  test('the keys are refused where a variable has none', async () => {
    expect(await refusal('by: $by', { by: [] }, '($by: [SaleGroupBy!]!)')).toEqual([
      '"by" is empty. Name at least one column.',
      'saleCollection',
      'BAD_USER_INPUT',
      '$by',
    ]);
  });
});

describe('dates and times', () => {
  test.each([
    ['YEAR', [['2024-01-01', 3], ['2025-01-01', 1], [null, 1]]],
    ['QUARTER', [['2024-01-01', 3], ['2025-01-01', 1], [null, 1]]],
    ['MONTH', [['2024-01-01', 1], ['2024-02-01', 2], ['2025-01-01', 1], [null, 1]]],
    ['WEEK', [['2024-01-29', 2], ['2024-02-26', 1], ['2024-12-30', 1], [null, 1]]],
    ['DAY', [['2024-01-31', 1], ['2024-02-01', 1], ['2024-02-29', 1], ['2025-01-01', 1], [null, 1]]],
  ])('a date is truncated to its %s, and stays a date', async (unit, expected) => {
    expect(await counts(`{column: day, truncate: ${unit}}`, 'day')).toEqual(expected);
  }); // biome-ignore format: a table

  test('a timestamp is truncated as it is', async () => {
    expect(await counts('{column: local, truncate: MONTH}', 'local')).toEqual([
      ['2024-01-01T00:00:00', 1],
      ['2024-02-01T00:00:00', 2],
      ['2025-01-01T00:00:00', 1],
      [null, 1],
    ]);
    expect((await counts('{column: local, truncate: HOUR}', 'local'))[0]).toEqual(['2024-01-31T23:00:00', 1]);
  });

  test('a time of day is truncated to hours and minutes', async () => {
    expect(await counts('{column: clock, truncate: HOUR}', 'clock')).toEqual([
      ['00:00:00', 1],
      ['10:00:00', 2],
      ['11:00:00', 1],
      [null, 1],
    ]);
    expect((await counts('{column: clock, truncate: MINUTE}', 'clock'))[1]).toEqual(['10:15:00', 1]);
  });

  test('a timestamp with time zone is the moment at which its unit begins, in the zone', async () => {
    const by = (zone: string) => `{column: at, truncate: MONTH${zone}}`;
    const utc = [
      ['2024-01-01T00:00:00+00:00', 1],
      ['2024-02-01T00:00:00+00:00', 2],
      ['2024-12-01T00:00:00+00:00', 1],
      [null, 1],
    ];
    expect(await counts(by(''), 'at')).toEqual(utc);
    expect(await counts(by(', timeZone: null'), 'at')).toEqual(utc);
    expect(await counts(by(', timeZone: "Etc/UTC"'), 'at')).toEqual(utc);
    const zurich = [
      ['2024-01-31T23:00:00+00:00', 3],
      ['2024-12-31T23:00:00+00:00', 1],
      [null, 1],
    ];
    expect(await counts(by(', timeZone: "Europe/Zurich"'), 'at')).toEqual(zurich);
    const from = { declared: '($zone: String)', variables: { zone: 'europe/zurich' } };
    expect(await counts(by(', timeZone: $zone'), 'at', '', from)).toEqual(zurich);
    // A domain over the type.
    expect((await counts('{column: often, truncate: YEAR, timeZone: "Asia/Tokyo"}', 'often'))[0]).toEqual([
      '2023-12-31T15:00:00+00:00',
      3,
    ]);
  });

  test('the zone is no part of the statement', async () => {
    const query =
      'query ($zone: String) { saleCollection { groups(by: {column: at, truncate: DAY, timeZone: $zone}) { count } } }';
    const texts = await Promise.all(
      ['Europe/Zurich', 'UTC'].map(
        async (zone) => (await execution.statements('anon', query, { variables: { zone } }))[0]!.text,
      ),
    );
    expect(texts[0]).toBe(texts[1]);
    expect(texts[0]).not.toContain('Zurich');
  });

  const timeZone = '"timeZone" is the name of a time zone, such as "Europe/Zurich".';
  test.each([
    ['{column: state, truncate: DAY}', '"state" cannot be truncated to DAY.', 'by[0].truncate'],
    ['{column: day, truncate: HOUR}', '"day" cannot be truncated to HOUR.', 'by[0].truncate'],
    ['{column: clock, truncate: DAY}', '"clock" cannot be truncated to DAY.', 'by[0].truncate'],
    ['{column: at, truncate: DAY, timeZone: "AAA1"}', timeZone, 'by[0].timeZone'],
    ['{column: at, truncate: DAY, timeZone: "+02"}', timeZone, 'by[0].timeZone'],
    ['{column: at, truncate: DAY, timeZone: ""}', timeZone, 'by[0].timeZone'],
    ['{column: at, truncate: DAY, timeZone: "No/Where"}', 'time zone "No/Where" not recognized', 'by[0].timeZone'],
    ...['{column: at, timeZone: "UTC"}', '{column: local, truncate: DAY, timeZone: "UTC"}'].map((by) => [
      by,
      '"timeZone" is for columns of timestamp with time zone that are truncated.',
      'by[0].timeZone',
    ]),
  ])('refused: %s', async (by, message, input) => {
    const found = await refusal(`by: [${by}]`);
    expect(found.slice(0, 3)).toEqual([message, 'saleCollection', 'BAD_USER_INPUT']);
    if (!message?.startsWith('time zone')) expect(found[3]).toBe(input);
  });

  test('a zone that is a variable is refused in the same way', async () => {
    const by = 'by: {column: at, truncate: DAY, timeZone: $zone}';
    for (const [zone, message] of [
      ['AAA1BBB', timeZone],
      ['No/Where', 'time zone "No/Where" not recognized'],
    ] as const) {
      const found = await refusal(by, { zone }, '($zone: String)');
      expect(found.slice(0, 3)).toEqual([message, 'saleCollection', 'BAD_USER_INPUT']);
    }
  });

  test('the time zones that have a name can be named', async () => {
    const rows = await database.query('select name from pg_timezone_names');
    const names = rows
      .map(({ name }) => String(name))
      .filter((name) => !/posixrules|localtime|^posix|^right|GMT[-+]?0$/.test(name));
    expect(names.length).toBeGreaterThan(400);
    const query =
      'query ($zone: String) { saleCollection { groups(by: {column: at, truncate: DAY, timeZone: $zone}) { count } } }';
    const refused = [];
    for (const zone of names) {
      const statements = await execution.statements('anon', query, { variables: { zone } }).catch(() => []);
      if (statements.length === 0) refused.push(zone);
    }
    expect(refused).toEqual([]);
  });
});

describe('what is computed of a group', () => {
  test('what is computed of a group has the types of aggregates', async () => {
    const selection =
      'key { buyerId } count distinctCount { state label } sum { price big } avg { weight } min { label day } max { paid price }';
    expect(await groups('by: [{column: buyerId}]', selection)).toEqual([
      {
        key: { buyerId: 1 },
        count: 2,
        distinctCount: { state: 2, label: 1 },
        // Numbers as in aggregates: all digits on the wire.
        sum: { price: 30.5, big: Number('18014398509481986') },
        avg: { weight: 1 },
        min: { label: expect.stringMatching(/red/i), day: '2024-01-31' },
        max: { paid: true, price: 20 },
      },
      {
        key: { buyerId: 2 },
        count: 2,
        distinctCount: { state: 2, label: 1 },
        sum: { price: 5, big: 1 },
        avg: { weight: 2 },
        min: { label: 'blue', day: '2024-02-29' },
        max: { paid: false, price: 5 },
      },
      {
        key: { buyerId: null },
        count: 1,
        distinctCount: { state: 0, label: 1 },
        sum: { price: 7, big: null },
        avg: { weight: 3 },
        min: { label: 'BLUE', day: null },
        max: { paid: null, price: 7 },
      },
    ]);
  });

  test('what is computed of a group is of the rows that match the filter, whatever the page is', async () => {
    const query = `{ saleCollection(filter: {buyerId: {is: NOT_NULL}}, first: 1, offset: 1, orderBy: [{id: DescNullsLast}]) {
      totalCount edges { node { id } } pageInfo { hasNextPage } aggregate { count } groups(by: [{column: state}]) { key { state } count } } }`;
    const { saleCollection } = await execution.data('anon', query);
    expect(saleCollection).toMatchObject({
      totalCount: 4,
      edges: [{ node: { id: 3 } }],
      aggregate: { count: 4 },
      groups: [
        { key: { state: 'new' }, count: 2 },
        { key: { state: 'paid' }, count: 1 },
        { key: { state: 'ON_HOLD' }, count: 1 },
      ],
    });
  });

  test('what is computed of a group is an empty list without rows', async () => {
    expect(await groups('by: [{column: state}]', 'count', { filter: '{id: {lt: 0}}' })).toEqual([]);
  });

  test('what is computed of a group is of all rows as one group in aggregate, with the number of different values', async () => {
    const query = '{ saleCollection { aggregate { distinctCount { __typename state label price id } } } }';
    expect((await execution.data('anon', query)).saleCollection.aggregate).toEqual({
      distinctCount: { __typename: 'SaleDistinctCount', state: 3, label: 2, price: 4, id: 5 },
    });
    const none = query.replace('saleCollection', 'saleCollection(filter: {id: {lt: 0}})');
    expect((await execution.data('anon', none)).saleCollection.aggregate.distinctCount.state).toBe(0);
  });
});

describe('having', () => {
  test.each([
    ['{}', [1, 2, null]],
    ['{count: {gt: 1}}', [1, 2]],
    ['{count: {gt: 5000}}', []],
    ['{count: {in: [1, 3]}}', [null]],
    ['{count: null, sum: null}', [1, 2, null]],
    ['{count: {eq: null}}', []],
    ['{count: {is: NULL}}', []],
    ['{sum: {price: {gt: "6"}}}', [1, null]],
    ['{sum: {price: {gt: "6"}}, count: {gt: 1}}', [1]],
    ['{sum: {big: {is: NULL}}}', [null]],
    ['{avg: {weight: {eq: "1"}}}', [1]],
    ['{min: {label: {eq: "RED"}}}', [1]],
    ['{max: {price: {in: ["5", "7.0"]}}}', [2, null]],
    ['{distinctCount: {state: {eq: 2}}}', [1, 2]],
    // The filter says which rows count for the condition: groups and their values stay.
    ['{filter: {state: {eq: new}}, count: {eq: 1}}', [1, 2]],
    ['{filter: {state: {eq: new}}, count: {eq: 0}}', [null]],
    ['{filter: {state: {neq: new}}, sum: {price: {gte: "5"}}}', [1, 2]],
    ['{filter: {state: {eq: new}}, sum: {price: {is: NULL}}}', [2, null]],
    ['{filter: {state: {eq: new}}}', [1, 2, null]],
    ['{filter: null, count: {eq: 1}}', [null]],
    ['{filter: {buyer: {name: {eq: "Ana"}}}, count: {gte: 1}}', [1]],
    ['{filter: {lineCollection: {some: {amount: {gt: 4}}}}, count: {eq: 1}}', [1]],
    ['{filter: {lineCollection: {aggregate: {count: {gte: 2}}}}, distinctCount: {id: {eq: 1}}}', [1]],
  ])('%s', async (having, buyers) => {
    const found = await groups(`by: [{column: buyerId}], having: ${having}`, 'key { buyerId } count');
    expect(found.map(({ key }: { key: { buyerId: number | null } }) => key.buyerId)).toEqual(buyers);
    const all = await counts('{column: buyerId}', 'buyerId');
    expect(found).toEqual(
      all
        .filter(([id]: [number]) => buyers.includes(id))
        .map(([buyerId, count]: [number, number]) => ({ key: { buyerId }, count })),
    );
  });

  test('having takes variables', async () => {
    const from = { declared: '($having: SaleAggregateFilter)', variables: { having: { count: { gt: 1 } } } };
    expect(await groups('by: [{column: buyerId}], having: $having', 'key { buyerId }', from)).toHaveLength(2);
  });

  test('having refuses a filter that is refused for rows, also as its only condition', async () => {
    const many = '{lineCollection: {aggregate: {count: {gt: 1001}}}}';
    const found = await refusal(`by: {column: state}, having: {filter: ${many}}`);
    expect(found[0]).toBe('A count of related rows is compared with numbers up to 1000.');
  });
});

describe('orderBy', () => {
  test.each([
    ['[]', [1, 2, null]],
    ['null', [1, 2, null]],
    ['[{}, {key: {}}, {count: null}]', [1, 2, null]],
    ['{key: {buyerId: DescNullsLast}}', [2, 1, null]],
    ['{key: {buyerId: AscNullsFirst}}', [null, 1, 2]],
    ['{key: {buyerId: DescNullsFirst}}', [null, 2, 1]],
    ['{count: AscNullsLast}', [null, 1, 2]],
    ['[{count: DescNullsLast}, {key: {buyerId: DescNullsLast}}]', [2, 1, null]],
    ['{sum: {price: DescNullsLast}}', [1, null, 2]],
    ['{sum: {big: AscNullsFirst}}', [null, 2, 1]],
    ['{avg: {weight: DescNullsLast}}', [null, 2, 1]],
    // Entries of one object count in the order in which they stand.
    ['{min: {label: AscNullsLast}, key: {buyerId: DescNullsLast}}', [2, null, 1]],
    ['[{min: {label: AscNullsLast}}, {key: {buyerId: DescNullsLast}}]', [2, null, 1]],
    ['{max: {paid: AscNullsFirst}}', [null, 2, 1]],
  ])('%s', async (orderBy, buyers) => {
    const found = await counts('{column: buyerId}', 'buyerId', `, orderBy: ${orderBy}`);
    expect(found.map(([id]: [number | null]) => id)).toEqual(buyers);
  });

  test('orderBy takes variables', async () => {
    const whole = { declared: '($o: [SaleAggregateOrderBy!])', variables: { o: [{ count: 'AscNullsLast' }] } };
    expect((await counts('{column: buyerId}', 'buyerId', ', orderBy: $o', whole))[0]).toEqual([null, 1]);
    const part = { declared: '($d: OrderByDirection)', variables: { d: 'DescNullsLast' } };
    expect((await counts('{column: buyerId}', 'buyerId', ', orderBy: {key: {buyerId: $d}}', part))[0]).toEqual([2, 2]);
  });

  test('by what is no key is refused', async () => {
    expect(
      await refusal('by: [{column: state}], orderBy: [{count: AscNullsLast}, {key: {price: AscNullsLast}}]'),
    ).toEqual([
      'Groups cannot be ordered by "price", which is not in "by".',
      'saleCollection',
      'BAD_USER_INPUT',
      'orderBy[1].key.price',
    ]);
  });

  test('orderBy ends with the keys that it does not name, so that the order is complete', async () => {
    const keys = async (orderBy: string) => {
      const given = `by: [{column: state}, {column: buyerId}], orderBy: ${orderBy}`;
      const found = await groups(given, 'key { state buyerId }');
      return found.map(({ key }: { key: object }) => Object.values(key).join());
    };
    expect(await keys('{key: {buyerId: DescNullsLast}}')).toEqual(['new,2', 'ON_HOLD,2', 'new,1', 'paid,1', ',']);
  });
});

describe('first and offset', () => {
  const states = async (rest: string, from: Given = {}) =>
    (await counts('{column: state}', 'state', rest, from)).map(([state]: [string | null]) => state);

  test('cut a page out of the groups', async () => {
    expect(await states(', first: 2')).toEqual(['new', 'paid']);
    expect(await states(', first: 2, offset: 1')).toEqual(['paid', 'ON_HOLD']);
    expect(await states(', offset: 3')).toEqual([null]);
    expect(await states(', first: 0')).toEqual([]);
    expect(await states(', first: null, offset: null')).toHaveLength(4);
    const from = { declared: '($n: Int, $m: Int)', variables: { n: 1, m: 1 } };
    expect(await states(', first: $n, offset: $m', from)).toEqual(['paid']);
    expect(await states(', first: $n, offset: $m', { declared: from.declared })).toHaveLength(4);
  });

  test('first and offset are clamped to the page size of the table', async () => {
    await createSchema(
      database,
      'many',
      `
      create table log (id int primary key, kind int);
      comment on table log is '@graphql({"aggregate": {"enabled": true}, "max_rows": 7})';
      insert into log select n, n % 20 from generate_series(1, 100) n;
      grant select on log to anon;
    `,
    );
    const on = await startExecution(database, { schemas: ['many'] });
    const count = async (given: string, variables = {}, declared = '') =>
      (
        await on.data('anon', `query ${declared} { logCollection { groups(by: {column: kind}${given}) { count } } }`, {
          variables,
        })
      ).logCollection.groups.length;
    expect(await count('')).toBe(7);
    expect(await count(', first: 100')).toBe(7);
    expect(await count(', first: 3')).toBe(3);
    expect(await count(', first: $n', { n: 100 }, '($n: Int)')).toBe(7);
    expect(await count(', offset: 15')).toBe(5);
  });

  test('first and offset are not negative', async () => {
    for (const name of ['first', 'offset']) {
      const variable = await refusal(`by: {column: state}, ${name}: $n`, { n: -1 }, '($n: Int)');
      expect(variable[0]).toBe(`\`${name}\` must be an unsigned integer`);
      const found = await refusal(`by: {column: state}, ${name}: -1`);
      expect(found.slice(0, 3)).toEqual([
        `\`${name}\` must be an unsigned integer`,
        'saleCollection',
        'BAD_USER_INPUT',
      ]);
    }
  });
});

describe('groups may be used', () => {
  test('in nested collections, for the rows of each parent', async () => {
    const query =
      '{ buyerCollection { edges { node { name saleCollection { groups(by: {column: state}) { key { state } count } } } } } }';
    const { buyerCollection } = await execution.data('anon', query);
    expect(buyerCollection.edges.map(({ node }: { node: { saleCollection: object } }) => node.saleCollection)).toEqual([
      { groups: [{ key: { state: 'new' }, count: 1 }, { key: { state: 'paid' }, count: 1 }] },
      { groups: [{ key: { state: 'new' }, count: 1 }, { key: { state: 'ON_HOLD' }, count: 1 }] },
      { groups: [] },
    ]); // biome-ignore format: a table
  });

  test('on views', async () => {
    const query =
      '{ soldCollection { groups(by: {column: state}, having: {sum: {price: {gt: "6"}}}) { key { state } sum { price } } } }';
    expect((await execution.data('anon', query)).soldCollection.groups).toEqual([
      { key: { state: 'new' }, sum: { price: 10.5 } },
      { key: { state: 'paid' }, sum: { price: 20 } },
      { key: { state: null }, sum: { price: 7 } },
    ]);
  });

  test('on results of functions, which run once', async () => {
    const expected = [
      { key: { state: 'new' }, count: 2 },
      { key: { state: 'paid' }, count: 1 },
    ];
    const selection = 'groups(by: {column: state}) { key { state } count }';
    expect((await execution.data('authenticated', `{ sales { ${selection} } }`)).sales.groups).toEqual(expected);
    const both = await execution.data('authenticated', `{ sales { ${selection} edges { node { id } } } }`);
    expect(both.sales).toEqual({ groups: expected, edges: [1, 2, 3].map((id) => ({ node: { id } })) });
    const loud = await execution.data(
      'authenticated',
      `mutation { loudSales(first: 1) { ${selection} edges { node { id } } } }`,
    );
    expect(loud.loudSales).toEqual({ groups: expected, edges: [{ node: { id: 1 } }] });
    expect((await database.query(`select last_value from shop.calls`))[0]).toMatchObject({ last_value: '1' });
  });

  test('several times beside each other', async () => {
    const query =
      '{ saleCollection { a: groups(by: {column: state}, first: 1) { count } b: groups(by: {column: paid}, first: 1) { count } } }';
    expect((await execution.data('anon', query)).saleCollection).toEqual({ a: [{ count: 2 }], b: [{ count: 1 }] });
  });
});

describe('security and limits', () => {
  test('a role groups the rows that it sees', async () => {
    expect(await counts('{column: state}', 'state', '', { role: 'authenticated' })).toContainEqual(['paid', 2]);
    expect(await counts('{column: state}', 'state')).toContainEqual(['paid', 1]);
  });

  test('groups cost a thousand for each parent, and the groups that are asked for', async () => {
    const query =
      '{ buyerCollection(first: 4) { edges { node { saleCollection(first: 1) { groups(by: {column: state}, first: 5) { count } } } } } }';
    const cost = 4 + 4 + 4 * 1000 + 4 * 5;
    const limited = (maxCost: number) => startExecution(database, { ...options, limits: { maxCost } });
    expect(await (await limited(cost)).errors('anon', query)).toEqual([]);
    expect(await (await limited(cost - 1)).errors('anon', query)).toEqual([
      `The operation has ${cost} rows at most, more than the limit of ${cost - 1} (option --max-cost).`,
    ]);
  });
});

describe('names', async () => {
  await createSchema(
    database,
    'named',
    `
    comment on schema named is '@graphql({"inflect_names": true})';
    create table team (id int primary key, "true" int, size int);
    create table team_group_key (id int primary key);
    create table part (id int primary key, kind int);
    create table part_column (id int primary key);
    create table part_distinct_count (id int primary key);
    create table piece (id int primary key, kind int, at timestamptz);
    create table piece_aggregate_filter (id int primary key);
    create table piece_aggregate_order_by (id int primary key);
    create table date_truncation (id int primary key);
    create table vague (id interval primary key, spans int[]);
    comment on table team is '@graphql({"aggregate": {"enabled": true}})';
    comment on table part is '@graphql({"aggregate": {"enabled": true}})';
    comment on table piece is '@graphql({"aggregate": {"enabled": true}})';
    comment on table vague is '@graphql({"aggregate": {"enabled": true}})';
    insert into piece values (1, 1, now()), (2, 1, now());
    grant select on all tables in schema named to anon;
  `,
  );
  const on = await startExecution(database, { schemas: ['named'], introspection: 'always' });
  const fields = async (type: string) => {
    const query = `{ __type(name: "${type}") { fields { name args { name } } inputFields { name } enumValues { name } } }`;
    const { __type } = await on.data('anon', query);
    return (__type.fields ?? __type.inputFields ?? __type.enumValues).map(({ name }: { name: string }) => name);
  };

  test('that are taken leave groups out, and the rest stays', async () => {
    expect(await fields('TeamConnection')).toEqual(['edges', 'pageInfo', 'aggregate', 'nodes']);
    expect(await fields('TeamGroupKey')).toEqual(['nodeId', 'id']);
    const added = ['distinctCount', 'stddev', 'variance'];
    expect(await fields('TeamAggregate')).toEqual(['count', 'sum', 'avg', 'min', 'max', ...added]);
    expect(await fields('PartConnection')).toEqual(['edges', 'pageInfo', 'aggregate', 'nodes']);
    expect(await fields('PartAggregate')).toEqual(['count', 'sum', 'avg', 'min', 'max', 'stddev', 'variance']);
    expect(await fields('VagueConnection')).toEqual(['edges', 'pageInfo', 'aggregate', 'nodes']);
  });

  test('that are taken leave arguments out', async () => {
    const { __type } = await on.data('anon', '{ __type(name: "PieceConnection") { fields { name args { name } } } }');
    const groups = __type.fields.find(({ name }: { name: string }) => name === 'groups');
    expect(groups.args.map(({ name }: { name: string }) => name)).toEqual(['by', 'first', 'offset']);
    expect(await fields('PieceGroupBy')).toEqual(['column']);
    const query = '{ pieceCollection { groups(by: {column: kind}) { key { kind } count } } }';
    expect((await on.data('anon', query)).pieceCollection.groups).toEqual([{ key: { kind: 1 }, count: 2 }]);
  });

  test('that are taken are reported, with the SQL that gives them free', async () => {
    const reasons = (await modelReader(database).omissions(['named']))
      .map(({ reason, fix }) => `${reason} ${fix}`)
      .join('\n');
    expect(reasons).toContain(
      'Table named.team would have the type "TeamGroupKey", and table named.team_group_key has that name already.',
    );
    expect(reasons).toContain('Table named.part would have the type "PartColumn", and');
    expect(reasons).toContain(
      `Nothing has a type "DateTruncation" of the extensions: table named.date_truncation has that name already. comment on table named.date_truncation is '@graphql({"name":"NamedDateTruncation"})';`,
    );
  });

  test('of constants are no columns of an enum', async () => {
    await createSchema(
      database,
      'other',
      `
      create table team (id int primary key, "true" int);
      comment on table team is '@graphql({"aggregate": {"enabled": true}})';
      grant select on team to anon;
    `,
    );
    const { __type } = await (await startExecution(database, { schemas: ['other'], introspection: 'always' })).data(
      'anon',
      '{ __type(name: "teamColumn") { enumValues { name } } }',
    );
    expect(__type.enumValues).toEqual([{ name: 'id' }]);
  });
});

test('without the extension, or without aggregates, nothing of it is there', async () => {
  const types = async (extensions: Parameters<typeof startExecution>[1]) => {
    const on = await startExecution(database, { ...options, ...extensions });
    const { __schema } = await on.data('anon', '{ __schema { types { name } } }');
    return (__schema.types as { name: string }[]).map(({ name }) => name);
  };
  const [all, none] = [await types({ extensions: ['reads'] }), await types({ extensions: [] })];
  const ofTable = (base: string) =>
    ['AggregateColumnFilter', 'AggregateFilter', 'AggregateOrderBy', 'Column', 'DistinctCount', 'DistinctCountFilter', 'GroupBy', 'GroupKey'].map((type) => base + type); // biome-ignore format: a list of names
  const expected = ['DateTruncation', ...ofTable('Sale'), ...ofTable('Sold')];
  expect(all).toEqual(expect.arrayContaining(expected));
  expect(none.filter((name) => expected.includes(name))).toEqual([]);
  const query = '{ saleCollection { groups(by: {column: id}) { count } } }';
  const plain = await startExecution(database, { ...options, extensions: [] });
  expect((await plain.errors('anon', query))[0]).toContain('Cannot query field "groups"');
  expect((await execution.errors('anon', query.replace('sale', 'buyer')))[0]).toContain('Cannot query field "groups"');
});

test('groups, aggregates, counts and edges are of one snapshot, whoever writes meanwhile', async () => {
  await createSchema(
    database,
    'written',
    `
    create table sale (id int primary key, kind text not null);
    insert into sale values (1, 'a'), (2, 'a'), (3, 'b');
    comment on table sale is '@graphql({"aggregate": {"enabled": true}, "totalCount": {"enabled": true}})';
    create function _held(sale) returns bool stable language plpgsql as 'begin perform pg_advisory_xact_lock_shared(1); return true; end';
    grant select on sale to anon;
  `,
  );
  const on = await startExecution(database, { schemas: ['written'] });
  const writer = new pg.Client(database.url);
  await writer.connect();
  atEnd(() => writer.end());
  await writer.query('select pg_advisory_lock(1)');
  const answer = on.data(
    'anon',
    '{ saleCollection { edges { node { id held } } groups(by: {column: kind}) { key { kind } count } totalCount aggregate { count } } }',
  );
  // It has a row, and waits.
  const waiting = `select from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())`;
  await expect.poll(async () => (await writer.query(waiting)).rowCount).toBe(1);
  await writer.query(`insert into written.sale values (4, 'a'), (5, 'c'); delete from written.sale where kind = 'b'`);
  await writer.query('select pg_advisory_unlock(1)');
  expect((await answer).saleCollection).toEqual({
    edges: [1, 2, 3].map((id) => ({ node: { id, held: true } })),
    groups: [
      { key: { kind: 'a' }, count: 2 },
      { key: { kind: 'b' }, count: 1 },
    ],
    totalCount: 3,
    aggregate: { count: 3 },
  });
  const after = await on.data('anon', '{ saleCollection { groups(by: {column: kind}) { count } totalCount } }');
  expect(after.saleCollection).toEqual({ groups: [{ count: 3 }, { count: 1 }], totalCount: 4 });
});

describe('with as many blocks as 200,000 rows have, an index serves', async () => {
  await createSchema(
    database,
    'big',
    `
    comment on schema big is '@graphql({"inflect_names": true})';
    create table parcel (id int primary key, tenant int not null, customer_id int not null, weight int not null) with (fillfactor = 10);
    insert into parcel select n, n % 10, 1 + (n - 1) % 2000, n % 100 from generate_series(1, 20000) n;
    create index on parcel (customer_id); create index on parcel (tenant, customer_id);
    comment on table parcel is '@graphql({"aggregate": {"enabled": true}})';
    alter table parcel enable row level security;
    create policy own on parcel using (tenant = (select 1));
    grant select on parcel to anon, service_role;
    analyze;
  `,
  );
  await database.query('vacuum big.parcel');
  const on = await startExecution(database, { schemas: ['big'] });
  const blocks = await blocksRead(database, on);

  // A scan of all parcels reads more than a thousand blocks.
  test.each([
    [
      'the first groups in the order of the key',
      'groups(by: {column: customerId}, first: 5) { key { customerId } count }',
    ],
    [
      'the last groups',
      'groups(by: {column: customerId}, first: 5, orderBy: {key: {customerId: DescNullsLast}}) { key { customerId } sum { weight } }',
    ],
    ['groups of few rows', 'groups(by: {column: weight}) { key { weight } count }', 'customerId: {in: [1, 11, 21]}'],
  ])('%s', async (_, field, filter = '') => {
    for (const role of ['anon', 'service_role']) {
      const query = `{ parcelCollection(filter: {${filter}}) { ${field} } }`;
      const { parcelCollection } = await on.data(role, query);
      expect(parcelCollection.groups.length).toBeGreaterThan(0);
      expect(await blocks(role, query), role).toBeLessThan(300);
    }
  });
});
