/**
 * Statements whose planning would fill a server process: PostgreSQL copies what is deep inside others once for each level, and cannot be
 * canceled at every moment of it. And what a server process keeps of statements that are never the same.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { startExecution, type TestExecution } from '../support/execution.ts';
import { type TestGateway, testGateway } from '../support/gateway.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { atEnd } from '../support/when-over.ts';

const tables = 60;
const columns = Array.from({ length: 20 }, (_, index) => `c${index}`);

let database: TestDatabase;
let execution: TestExecution;
let gateway: TestGateway;
beforeAll(async () => {
  const table = (at: number) => `
    create table t${at} (id int primary key, up_id int${at === 0 ? '' : ` references t${at - 1}`}, ${columns.join(' text, ')} text);
    create index on t${at} (up_id);
    alter table t${at} enable row level security;
    create policy any_row on t${at} using (id > 0);`;
  database = await createDatabase(`
    comment on schema public is '@graphql({"inflect_names": true})';
    ${Array.from({ length: tables }, (_, at) => table(at)).join('')}
    -- 4, 12, 36 and 108 tables behind one name.
    create view v0 as select a.id, a.up_id, a.c0 as v from t1 a left join t1 b on b.id = a.up_id left join t1 c on c.id = b.up_id left join t1 d on d.id = c.up_id;
    ${[0, 1, 2].map((at) => `create view v${at + 1} as select a.id, a.up_id, b.v from v${at} a left join v${at} b on b.id = a.up_id left join v${at} c on c.id = b.up_id and c.v > 'x';`).join('\n')}
    ${[2, 3].map((at) => `comment on view v${at} is '@graphql({"primary_key_columns": ["id"], "foreign_keys": [{"local_columns": ["up_id"], "foreign_schema": "public", "foreign_table": "v${at}", "foreign_columns": ["id"], "local_name": "below", "foreign_name": "up"}]})';`).join('\n')}
    create table wide (id int primary key, ${columns.join(' text, ')} text);
    alter table wide enable row level security;
    -- A third of the time and of the memory that an operation may take.
    create policy of_v3 on wide for select using (exists (select from v3 where v3.id = wide.id));
    insert into wide values (1); insert into t1 (id) values (1);
    create table parent (id int primary key, up_id int references parent, v text);
    ${Array.from({ length: 100 }, (_, at) => `create table child${at} (primary key (id)) inherits (parent);`).join('\n')}
    create table member (user_id int, team int);
    create table guarded (id int primary key, up_id int references guarded, v text);
    alter table guarded enable row level security;
    create policy of_team on guarded using (exists (select from member m join member n on n.team = m.team where n.user_id = id or m.user_id = up_id)
      or id in (select user_id from member));
    -- PostgreSQL plans its text where it is called.
    create function kin(p parent) returns setof member stable language sql as
      'select m.* from member m ${Array.from({ length: 12 }, (_, at) => `left join guarded j${at} on j${at}.id = ${at === 0 ? 'm.team' : `j${at - 1}.up_id`}`).join(' ')} where j11.v is null';
    comment on table member is '@graphql({"primary_key_columns": ["user_id"]})';
    -- As a superuser: others see no memory.
    create function kept_bytes() returns bigint stable security definer language sql as
      $$ select sum(total_bytes)::bigint from pg_catalog.pg_backend_memory_contexts $$;
    create function process() returns int stable language sql as 'select pg_catalog.pg_backend_pid()';
    grant usage on schema public to anon; grant select on all tables in schema public to anon`);
  execution = await startExecution(database);
  gateway = await testGateway(database, { poolSize: 1, poolWaitMs: 60_000 }, atEnd);
});

const times = (length: number, make: (index: number) => string) =>
  Array.from({ length }, (_, at) => make(at)).join(' ');
const chain = (levels: number, leaf: string): string =>
  levels === 0 ? leaf : `${leaf} up { ${chain(levels - 1, leaf)} }`;
const lists = (at: number, levels: number, leaf: string): string =>
  levels === 0 ? leaf : `${leaf} t${at}Collection(first: 1) { edges { node { ${lists(at + 1, levels - 1, leaf)} } } }`;
const roots = (count: number, at: number, inner: string) =>
  `{ ${times(count, (index) => `a${index}: t${at}Collection(first: 1) { edges { node { ${inner} } } }`)} }`;
const all = columns.join(' ');

interface Shape {
  readonly name: string;
  /** A document that grows with the number. */
  make(size: number): { readonly query: string; readonly variables?: Readonly<Record<string, unknown>> };
  readonly most: number;
}

const shapes: readonly Shape[] = [
  { name: 'chains of rows', most: 50, make: (size) => ({ query: roots(size, 50, chain(18, 'id')) }) },
  { name: 'chains of rows with many columns', most: 50, make: (size) => ({ query: roots(size, 50, chain(18, all)) }) },
  { name: 'chains of lists', most: 50, make: (size) => ({ query: roots(size, 0, lists(1, 9, 'id')) }) },
  { name: 'chains of lists with many columns', most: 18, make: (size) => ({ query: roots(2, 0, lists(1, size, all)) }) },
  { name: 'many related rows', most: 50, make: (size) => ({ query: roots(size, 9, times(9, (at) => `r${at}: up { ${all} }`)) }) },
  // Behind whose names much is planned.
  ...['v2', 'v3', 'parent', 'guarded'].map((table) => ({
    name: `many related rows of ${table}`, most: 480, make: (size: number) => ({ query: `{ ${table}Collection(first: 1) { edges { node { ${times(size, (at) => `r${at}: up { id v }`)} } } } }` }),
  })),
  {
    name: 'functions that read many tables', most: 480, make: (size: number) => ({ query: `{ parentCollection(first: 1) { edges { node { ${times(size, (at) => `r${at}: kin(first: 1) { edges { node { team } } }`)} } } } }` }),
  },
  {
    name: 'conditions',
    most: 14_000,
    make: (size) => ({
      query: 'query ($f: T1Filter) { t1Collection(filter: $f) { edges { node { id } } } }',
      variables: { f: { or: Array.from({ length: size }, (_, id) => ({ id: { gt: id } })) } },
    }),
  },
]; // biome-ignore format: a table

/** Megabytes that planning takes, which PostgreSQL tells since version 17. */
async function plannedMegabytes(text: string): Promise<number> {
  const [version] = await database.query<{ v: number }>("select current_setting('server_version_num')::int as v");
  if (version!.v < 170000) return 0;
  const rows = await database.query<Record<string, string>>(`explain (memory, generic_plan) ${text}`);
  const plan = rows.map((row) => Object.values(row)[0]).join('\n');
  return Number(/allocated=(\d+)kB/.exec(plan)?.[1]) / 1024;
}

/** About the largest statement of a shape that is accepted, and the size of one that is not. */
async function fit({ make, most }: Shape) {
  const heaviest = 1_000_000;
  const statementOf = async (size: number) => {
    const { query, variables = {} } = make(size);
    return (await execution.statements('anon', query, { variables }))[0]!;
  };
  const whole = await statementOf(most);
  if (whole.weight <= heaviest) return { largest: most, statement: whole, refused: null };
  let [largest, refused, statement] = [1, most, await statementOf(1)];
  while (refused - largest > 1 + largest / 10) {
    const size = Math.floor((largest + refused) / 2);
    const tried = await statementOf(size);
    if (tried.weight > heaviest) refused = size;
    else [largest, statement] = [size, tried];
  }
  return { largest, statement, refused };
}

const run = ({ make }: Shape, size: number) =>
  execution.run('anon', make(size).query, { variables: make(size).variables ?? {} });

describe('Planning takes about 100 MB, or is refused:', () => {
  test.each(shapes)('$name', async (shape) => {
    const { statement, refused } = await fit(shape);
    if (refused !== null)
      expect((await run(shape, refused)).errors).toMatchObject([
        { extensions: { code: 'LIMIT_EXCEEDED', limit: 'planning' } },
      ]);
    expect(await plannedMegabytes(statement.text)).toBeLessThan(110);
  });

  test('policies count once for a table, however many of its columns are read', async () => {
    const { data } = await execution.run(
      'anon',
      `{ wideCollection(orderBy: [{id: AscNullsLast}]) { edges { node { id ${all} } } } }`,
    );
    expect(data).toMatchObject({ wideCollection: { edges: [{ node: { id: 1, c19: null } }] } });
  });

  test('what is about to take that much is answered', async () => {
    const shape = shapes.find(({ name }) => name === 'chains of lists with many columns')!;
    expect((await run(shape, (await fit(shape)).largest)).errors).toBeUndefined();
  });
});

describe('A server process keeps less than 64 MB', () => {
  // Named, so that asking takes the place of no other statement.
  const state = async () => {
    const { body } = await gateway.ask('{ keptBytes process }');
    return { megabytes: Number(body.data.keptBytes) / 1024 / 1024, process: body.data.process as number };
  };
  const ask = async (query: string, variables = {}) =>
    expect((await gateway.ask(query, { variables })).body).not.toHaveProperty('errors');

  test('of types of rows: a connection that has seen many is replaced by a new one', async () => {
    const seen = new Set<number>();
    let most = 0;
    for (let request = 0; request < 24; request += 1) {
      // Columns in an order that no other row has, because PostgreSQL keeps each order.
      const row = (at: number) =>
        `r${at}: up { n${request}r${at}: id ${[...columns.slice(at % 20), ...columns.slice(0, at % 20)].join(' ')} }`;
      await ask(roots(1, 1, times(100, row)));
      if (request % 4 > 0) continue;
      const { megabytes, process } = await state();
      most = Math.max(most, megabytes);
      seen.add(process);
    }
    expect(most).toBeLessThan(64);
    expect(seen.size).toBeGreaterThan(1);
    expect(seen.size).toBeLessThan(6);
  });

  test('of a long statement that was sent once', async () => {
    for (let time = 0; time < 3; time += 1) await state();
    const f = { or: Array.from({ length: 10_000 }, (_, id) => ({ id: { gt: id } })) };
    const send = async () => {
      const before = await state();
      await ask('query ($f: T1Filter) { t1Collection(filter: $f) { edges { node { id } } } }', { f });
      return { before, after: await state() };
    };
    let { before, after } = await send();
    // What was sent before may have been enough for a new connection, which lasts.
    if (after.process !== before.process) ({ before, after } = await send());
    expect(after.process).toBe(before.process);
    expect(after.megabytes - before.megabytes).toBeLessThan(8);
  });

  test('a server process that is asked the same again and again is not replaced', async () => {
    const before = await state();
    for (let time = 0; time < 60; time += 1)
      await ask(
        roots(
          6,
          1,
          times(5, (at) => `r${at}: up { ${all} }`),
        ),
      );
    expect((await state()).process).toBe(before.process);
  });
});
