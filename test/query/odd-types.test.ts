/**
 * Columns of every type that PostgreSQL has: what the schema offers for them works, or is refused with a sentence that
 * names the column. PostgreSQL decides which types can be compared and ordered.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Json, startExecution, type TestExecution } from '../support/execution.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';

interface OddColumn {
  readonly name: string;
  readonly compares: boolean;
  readonly orders: boolean;
}

let database: TestDatabase;
let columns: readonly OddColumn[];
beforeAll(async () => {
  database = await createDatabase(`
    create extension ltree; create extension hstore; create extension citext; create extension cube;
    create type hue as enum ('red', 'blue'); create type pair as (a int, b point);
    create domain place as point; create domain places as point[]; create domain paired as pair; create domain document as json;
    create domain word as text; create domain many as int[];
    comment on schema public is '@graphql({"introspection": true})';
  `);
  const types = await database.query<{ type: string }>(`
    select t.oid::regtype::text as type from pg_type t
    where t.typtype in ('b', 'd', 'e', 'r', 'm') and t.typnamespace in ('pg_catalog'::regnamespace, 'public'::regnamespace)
      and t.typisdefined and t.typname !~ '^(_pg_|gtsvector|ltree_gist|ghstore)' and t.oid::regtype::text !~ '\\.'
      and (t.typarray <> 0 or t.typelem in ('point'::regtype, 'int4'::regtype, 'xml'::regtype, 'text'::regtype, 'hue'::regtype))
    order by 1`);
  const named = types.map(({ type }, index) => ({ type, name: `c${index}` }));
  const works = (statement: string) =>
    database.query(statement).then(
      () => true,
      () => false,
    );
  const found: OddColumn[] = [];
  for (const { type, name } of named) {
    const rows = `(select null::${type} as x union all select null) y`;
    // PostgreSQL looks at members of a value when there is one.
    const compares = type !== 'paired' && (await works(`select x = x from ${rows}`));
    found.push({ name, compares, orders: await works(`select x from ${rows} order by x`) });
  }
  columns = found;
  await database.query(`
    create table odd (id int primary key, ${named.map(({ name, type }) => `${name} ${type}`).join(', ')});
    comment on table odd is '@graphql({"aggregate": {"enabled": true}, "totalCount": {"enabled": true}})';
    insert into odd values (1), (2);
    create function spot(odd) returns point immutable language sql as 'select null::point';
    create function box_of(odd) returns box immutable language sql as 'select null::box';
    create function doc(odd) returns json immutable language sql as 'select null::json';
    comment on function spot is '@graphql({"filter": true, "order": true})';
    comment on function box_of is '@graphql({"filter": true, "order": true})';
    comment on function doc is '@graphql({"filter": true, "order": true})';
    create view spotted as select id, null::xml as spot from odd;
    comment on view spotted is '@graphql({"primary_key_columns": ["spot"]})';
    grant all on odd, spotted to anon;
  `);
});

const typeOf = 'type { kind name ofType { kind name ofType { name } } }';
const inputsOf = async (execution: TestExecution, name: string): Promise<Json[]> =>
  (await execution.data('anon', `{ __type(name: "${name}") { inputFields { name ${typeOf} } enumValues { name } } }`))
    .__type?.inputFields ?? [];

describe.each([['none'], ['all']] as const)('with the extensions %s', (extensions) => {
  let execution: TestExecution;
  beforeAll(async () => {
    execution = await startExecution(database, extensions === 'none' ? { extensions: [] } : {});
  });
  const run = async (args: string) => {
    const { errors } = await execution.run('anon', `{ oddCollection(${args}) { edges { cursor } } }`);
    return errors?.[0] ?? null;
  };

  test('each order works, or its column is named', async () => {
    const wrong: Json[] = [];
    const offered = (await inputsOf(execution, 'oddOrderBy')).filter(({ name }) => !name.endsWith('Rank'));
    for (const { name } of offered) {
      const error = await run(`orderBy: {${name}: AscNullsLast}`);
      const column = columns.find((each) => each.name === name);
      const expected =
        column?.orders === false ? `"${name}" has a type without an order in PostgreSQL. Leave it out.` : undefined;
      if (error?.message !== expected || (error && error.extensions.code !== 'BAD_USER_INPUT'))
        wrong.push([name, error]);
    }
    expect(wrong).toEqual([]);
    expect(offered.map(({ name }) => name).filter((name) => !/^(c\d+|id|c\d+Rank)$/.test(name))).toEqual([]);
  });

  test('each operator works, or its column is named', async () => {
    const wrong: Json[] = [];
    const offered = await inputsOf(execution, 'oddFilter');
    for (const { name, type } of offered) {
      const column = columns.find((each) => each.name === name);
      if (column === undefined) continue;
      for (const operator of await inputsOf(execution, type.name)) {
        const operand = operator.name === 'is' ? 'NULL' : 'null';
        const error = await run(`filter: {not: {${name}: {${operator.name}: ${operand}}}}`);
        const isRefused = operator.name !== 'is' && !column.compares;
        const isRight = isRefused
          ? error?.message.startsWith(`"${name}" has a type whose values PostgreSQL cannot compare.`)
          : error === null;
        if (!isRight || (error && error.extensions.code !== 'BAD_USER_INPUT')) wrong.push([name, operator.name, error]);
      }
    }
    expect(wrong).toEqual([]);
    for (const { name, type } of offered.filter((each) => each.name === 'spot')) {
      expect((await inputsOf(execution, type.name)).map((each) => each.name)).toEqual(['is']);
      expect(await run(`filter: {${name}: {is: NULL}}`)).toBeNull();
    }
    const functions = offered.map(({ name }) => name).filter((name) => /spot|box|doc/.test(name));
    expect(functions).toEqual(extensions === 'none' ? [] : ['spot', 'box_of', 'doc']);
  });

  test('a view whose key has no order has no pages', async () => {
    expect((await execution.run('anon', '{ spottedCollection { edges { node { id } } } }')).errors).toMatchObject([
      {
        message:
          '"spotted" has no pages: its key column "spot" has a type without an order in PostgreSQL. Declare another key.',
        extensions: { code: 'BAD_USER_INPUT' },
      },
    ]);
  });
});

test('distinctOn and groups work for each column that they offer, or name it', async () => {
  const execution = await startExecution(database);
  const { __type: type } = await execution.data('anon', '{ __type(name: "oddColumn") { enumValues { name } } }');
  const names: string[] = type.enumValues.map(({ name }: Json) => name);
  expect(names.length).toBeGreaterThan(10);
  const refused: string[] = [];
  for (const name of names) {
    const distinct = await execution.run('anon', `{ oddCollection(distinctOn: [${name}]) { edges { cursor } } }`);
    const groups = await execution.run('anon', `{ oddCollection { groups(by: [{column: ${name}}]) { count } } }`);
    for (const { errors } of [distinct, groups]) {
      const message = `"${name}" is for "updateColumns" alone: rows are not compared by it.`;
      if (errors) expect(errors).toMatchObject([{ message, extensions: { code: 'BAD_USER_INPUT' } }]);
    }
    if (distinct.errors || groups.errors) refused.push(name);
  }
  const { __type: row } = await execution.data(
    'anon',
    '{ __type(name: "odd") { fields { name type { kind name ofType { name } } } } }',
  );
  const scalarOf = new Map(
    row.fields.map(({ name, type }: Json) => [name, type.kind === 'LIST' ? 'list' : (type.name ?? type.ofType.name)]),
  );
  const scalars = (of: readonly string[]) => [...new Set(of.map((name) => scalarOf.get(name)))].sort();
  const offered = [
    'BigFloat',
    'BigInt',
    'Boolean',
    'Date',
    'Datetime',
    'Float',
    'Int',
    'String',
    'Time',
    'UUID',
    'hue',
  ];
  expect(scalars(names.filter((name) => !refused.includes(name)))).toEqual(offered);
  expect(scalars(refused)).toEqual(['JSON', 'Opaque', 'list']);
});
