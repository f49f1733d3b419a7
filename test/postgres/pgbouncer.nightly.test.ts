/**
 * The gateway behind PgBouncer in transaction mode: each answer is the one that a direct connection gives, also where clients of
 * several roles share two connections to the server. The operations use every extension of reads, and writes of several
 * statements hand no key on to those of another client. Needs the program `pgbouncer`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { installWatch } from '../../src/cli/init/watch-setup.ts';
import { bindSlot } from '../../src/graphql/compile/input/bind-slot.ts';
import { startPgBouncer } from '../bench/src/pgbouncer.ts';
import { usePool } from '../management/management.ts';
import { type TestGateway, testGateway } from '../support/gateway.ts';
import { token } from '../support/http.ts';
import { createDatabase } from '../support/postgres.ts';
import { walkPages } from '../support/walk-pages.ts';

// Some thousand requests over two connections, on a machine that may be busy.
vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

const shop = join(import.meta.dirname, '../../examples/shop');
const read = (name: string) => readFileSync(join(shop, name), 'utf8');

const database = await createDatabase(
  read('schema.sql'),
  read('data.sql'),
  // What the example does not have: nulls to page over, and keys of several columns.
  `update product set released_on = null where id % 5 = 0;
   create table sheet (id int generated always as identity primary key, code text unique, owner text not null);
   create table entry (sheet_id int references sheet, line int, owner text not null, hits int not null default 0, primary key (sheet_id, line));
   grant select, insert, update, delete on sheet, entry to anon, authenticated;
   analyze`,
);
await usePool(database, (pool) => installWatch(pool, 'authenticator'));

const customer = (number: number) => ({ role: 'authenticated', sub: `00000000-0000-4000-8000-00000000000${number}` });

/** Tokens by who asks. */
const tokens = {
  anon: await token({ role: 'anon' }),
  'the first customer': await token(customer(1)),
  'the second customer': await token(customer(2)),
  service_role: await token({ role: 'service_role' }),
} as const;
type Asking = keyof typeof tokens;
const asking = Object.keys(tokens) as Asking[];

interface Operation {
  readonly name: string;
  readonly query: string;
  readonly variables?: unknown;
}

const search = '{ websearch: "copper or pots", config: "english" }';
const ordersOfCaller = 'orders by what was bought, the largest first';
const written: Readonly<Record<string, string>> = {
  [ordersOfCaller]: `{ orderCollection(
      filter: { lines: { some: { product: { category: { parent: { slug: { eq: "kitchen" } } } } } } }
      orderBy: [{ lines: { sum: { lineTotal: DescNullsLast } } }]
    ) { edges { cursor node { id total } } } }`,
  'every, none and an aggregate': `{ productCollection(
      filter: { reviews: { every: { rating: { gte: 2 } }, aggregate: { count: { gte: 2 } } }, posts: { none: {} } }
    ) { totalCount(atMost: 5) edges { node { name } } } }`,
  'groups of months': `{ reviewCollection { groups(
      by: [{ column: createdAt, truncate: MONTH, timeZone: "Europe/Zurich" }]
      having: { count: { gte: 5 } }
      orderBy: [{ count: DescNullsLast }]
    ) { key { createdAt } count distinctCount { rating } } } }`,
  'a JSON path': `{ productCollection(
      filter: { attributes: { matches: "$.warranty_years > 3", hasKey: "care" } }
    ) { edges { node { name dishwasher: attributes(at: ["care", "dishwasher"]) } } } }`,
  'text search': `{ postCollection(filter: { search: ${search} }, orderBy: [{ searchRank: ${search} }]) {
      totalCount edges { cursor node { title } } } }`,
};

/** Collections and orders that are paged through. */
const walks: readonly (readonly [field: string, orderBy: string])[] = [
  ['productCollection', '[{ releasedOn: AscNullsFirst }]'],
  ['productCollection', '[{ reviews: { avg: { rating: DescNullsLast } } }, { category: { name: AscNullsLast } }]'],
  ['productCollection', '[{ priceGap: { price: "20" } }]'],
  ['postCollection', `[{ products: { count: DescNullsLast } }, { searchRank: ${search} }]`],
];

const operations: Operation[] = [
  ...readdirSync(join(shop, 'queries')).flatMap((name) => {
    const query = read(`queries/${name}`);
    // Those that write have another answer each time.
    if (/^mutation\b/m.test(query)) return [];
    return [{ name, query, variables: JSON.parse(/^# variables: (.*)$/m.exec(query)?.[1] ?? '{}') }];
  }),
  ...Object.entries(written).map(([name, query]) => ({ name, query })),
];

async function answerOf(gateway: TestGateway, who: Asking, { query, variables }: Operation): Promise<string> {
  const headers = { authorization: `Bearer ${tokens[who]}` };
  const { status, body } = await gateway.ask(query, { variables, headers });
  return JSON.stringify([status, body]);
}

/** The answers of a direct connection, by who asks and the operation. */
const direct = new Map(asking.map((who) => [who, new Map<Operation, string>()]));

beforeAll(async () => {
  let stop = async () => {};
  const gateway = await testGateway(database, {}, (end) => {
    stop = end;
  });
  for (const [field, orderBy] of walks) await addPages(gateway, field, orderBy);
  for (const [who, answers] of direct)
    for (const operation of operations) answers.set(operation, await answerOf(gateway, who, operation));
  await stop();
});

/** Adds the operations that read all pages, forward and backward. */
async function addPages(gateway: TestGateway, field: string, orderBy: string): Promise<void> {
  const ask = async (query: string) => {
    operations.push({ name: `a page of ${field}, ${orderBy}`, query });
    const { body } = await gateway.ask(query);
    expect(body.errors, query).toBeUndefined();
    return body.data;
  };
  const forward = await walkPages(ask, field, { orderBy, size: 18, backward: false });
  const backward = await walkPages(ask, field, { orderBy, size: 18, backward: true });
  expect(forward.length).toBeGreaterThan(36);
  expect(new Set(forward).size).toBe(forward.length);
  expect(backward).toEqual(forward);
}

type Settings = Readonly<Record<string, string | number>>;

/** A PgBouncer with two connections to the server. @returns Its connection string. */
async function startPooler(settings: Settings): Promise<string> {
  const pooler = await startPgBouncer(database.urlAs('authenticator', 'test'), 2, settings);
  if (pooler === null) {
    throw new Error('PgBouncer is not installed. Install it, for example: apt-get install pgbouncer');
  }
  onTestFinished(() => pooler.stop());
  return pooler.url;
}

/** A gateway all of whose connections go through it. */
async function startBehind(url: string): Promise<TestGateway> {
  return testGateway(database, { databaseUrl: url, adminDatabaseUrl: url });
}

test('the operations have answers, and those of row security are another for each caller', () => {
  const failed = [...direct.get('service_role')!].filter(([, answer]) => !answer.startsWith('[200,{"data":{'));
  expect(failed.map(([{ name }, answer]) => `${name}: ${answer}`)).toEqual([]);
  const operation = operations.find(({ name }) => name === ordersOfCaller)!;
  expect(new Set(asking.map((who) => direct.get(who)!.get(operation))).size).toBe(asking.length);
});

describe.each([
  // `server_reset_query` is `discard all` by default, which transaction mode runs only where it is told to.
  ['as it comes', {}],
  ['that resets a connection after each transaction', { server_reset_query_always: 1 }],
])('behind a PgBouncer %s', (_what, settings) => {
  test('one client after the other gets the answers of a direct connection', async () => {
    const gateway = await startBehind(await startPooler(settings));
    for (const who of asking) expect(await collectWrong(gateway, who, 0)).toEqual([]);
    expect(gateway.observations.map(({ kind }) => kind)).toContain('prepared_statements_off');
  });

  test('many concurrent requests of several roles share two server connections', async () => {
    const gateway = await startBehind(await startPooler(settings));
    const clients = asking.flatMap((who) => [0, 0.2, 0.4, 0.6, 0.8].map((start) => collectWrong(gateway, who, start)));
    expect((await Promise.all(clients)).flat()).toEqual([]);
    const connections = await database.query(
      `select pid from pg_stat_activity where datname = current_database() and usename = 'authenticator'`,
    );
    expect(connections.length).toBeLessThanOrEqual(2);
  });

  test('writes of many at once hand keys on to their own rows only, and leave none behind', async () => {
    await database.query('truncate sheet, entry');
    const url = await startPooler(settings);
    const gateway = await startBehind(url);
    const owners = Array.from({ length: 40 }, (_, number) => `w${number}`);
    const write = async (owner: string, number: number) => {
      const headers = { authorization: `Bearer ${tokens[number % 2 === 0 ? 'anon' : 'the first customer']}` };
      for (const query of writesOf(owner)) expect((await gateway.ask(query, { headers })).body.errors).toBeUndefined();
    };
    await Promise.all(owners.map(write));
    const found = await database.query(
      `select s.code, s.owner, string_agg(e.line || ' ' || e.owner || ' ' || e.hits, ', ' order by e.line) as lines
        from sheet s join entry e on e.sheet_id = s.id group by s.id order by length(s.owner), s.code`,
    );
    const rows = owners.flatMap((owner) => [
      { code: `${owner}a`, owner, lines: `1 ${owner} 0, 3 ${owner} 1` },
      { code: `${owner}b`, owner, lines: `1 ${owner} 0, 2 ${owner} 2` },
      { code: `${owner}c`, owner, lines: `1 ${owner} 0` },
    ]);
    const byCode = (one: { code: string }, other: { code: string }) => (one.code < other.code ? -1 : 1);
    expect((found as typeof rows).sort(byCode)).toEqual(rows.sort(byCode));
    // Others who share the connections to the server cannot read them either.
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    onTestFinished(() => client.end());
    const names = [0, 1, 2].map((step) =>
      bindSlot({ kind: 'kept_keys', step }, { variables: {}, introspection: new Map() }),
    );
    for (let time = 0; time < 10; time += 1) {
      const text =
        'select concat(current_setting($1, true), current_setting($2, true), current_setting($3, true)) as kept';
      expect((await client.query(text, names)).rows[0].kept).toBe('');
    }
  });

  test('a changed schema is in the next answer', async () => {
    const gateway = await startBehind(await startPooler(settings));
    const ask = async () => (await gateway.ask('{ noteCollection { edges { node { id } } } }')).body;
    expect((await ask()).errors[0].message).toContain('noteCollection');
    await database.query('create table note (id int primary key); grant select on note to anon');
    expect(await ask()).toEqual({ data: { noteCollection: { edges: [] } } });
    await database.query('drop table note');
    expect((await ask()).errors[0].message).toContain('noteCollection');
  });
});

/** Nested inserts, upserts and updates, and a list of updates, of one client; all rows have its name. */
const writesOf = (owner: string) => {
  const lines = (...numbers: number[]) => numbers.map((line) => `{ line: ${line}, owner: "${owner}" }`).join(' ');
  const sheet = (code: string, entries: string) =>
    `{ code: "${owner}${code}", owner: "${owner}", entryCollection: { insert: [${entries}], onConflict: { constraint: entry_pkey, updateColumns: [owner] } } }`;
  const upsert = (...objects: string[]) =>
    `mutation { insertIntoSheetCollection(objects: [${objects.join(' ')}], onConflict: { constraint: sheet_code_key, updateColumns: [owner] }) { affectedCount } }`;
  return [
    upsert(sheet('a', lines(1, 2)), sheet('b', lines(1))),
    upsert(sheet('b', lines(1, 2)), sheet('c', lines(1))),
    `mutation { updateSheetCollection(
        set: { owner: "${owner}", entryCollection: { delete: [{ filter: { line: { eq: 2 } } }], insert: [${lines(3)}] } }
        filter: { code: { eq: "${owner}a" } }
      ) { affectedCount }
      updateManyEntryCollection(updates: [
        { increment: { hits: 1 }, filter: { owner: { eq: "${owner}" }, line: { eq: 3 } } }
        { increment: { hits: 2 }, set: {}, filter: { owner: { eq: "${owner}" }, line: { eq: 2 } } }
      ]) { affectedCount } }`,
  ];
};

/** Asks all operations, beginning at a part of them. Returns those whose answer is not that of a direct connection. */
async function collectWrong(gateway: TestGateway, who: Asking, start: number): Promise<string[]> {
  const first = Math.floor(operations.length * start);
  const wrong: string[] = [];
  for (const operation of [...operations.slice(first), ...operations.slice(0, first)]) {
    const [found, right] = [await answerOf(gateway, who, operation), direct.get(who)!.get(operation)];
    if (found !== right) wrong.push(`${who}, ${operation.name}: ${found}, directly ${right}`);
  }
  return wrong;
}
