/**
 * A neighbour who may create in a schema of the API plants operators and functions that fit better than the built-in ones. No
 * request may run them: not as `service_role`, and not as the other API roles.
 */
import { type GraphQLInputObjectType, getNamedType, isEnumType, isListType } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Json, startExecution, type TestExecution } from '../support/execution.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { plantCaptures } from './plant-captures.ts';

/** Columns by name: type, two values as SQL, and one of them as GraphQL. */
const columns: Readonly<Record<string, readonly [type: string, one: string, other: string, literal: string]>> = {
  vc: ['varchar', "'a'", "'b'", '"a"'],
  vc9: ['varchar(9)', "'a'", "'b'", '"a"'],
  bp: ['char(3)', "'a'", "'b'", '"a"'],
  ch: ['"char"', "'a'", "'b'", '"a"'],
  nm: ['name', "'a'", "'b'", '"a"'],
  tx: ['text', "'a'", "'b'", '"a"'],
  en: ['api.mood', "'glad'", "'sad'", 'glad'],
  odd: ['api.odd', "'dark-blue'", "'green'", 'DARK_BLUE'],
  dm: ['api.code', "'a'", "'b'", '"a"'],
  dn: ['api.amount', '1', '2', '1'],
  ci: ['ext.citext', "'A'", "'b'", '"a"'],
  dci: ['api.email', "'A'", "'b'", '"a"'],
  i2: ['int2', '1', '2', '1'],
  i4: ['int4', '1', '2', '1'],
  i8: ['int8', '1', '2', '"1"'],
  nu: ['numeric', '1.5', '2', '"1.5"'],
  f4: ['float4', '1', '2', '1'],
  f8: ['float8', '1', '2', '1'],
  bo: ['bool', 'true', 'false', 'true'],
  id: ['uuid', "'00000000-0000-0000-0000-000000000001'", 'gen_random_uuid()', '"00000000-0000-0000-0000-000000000001"'],
  da: ['date', "'2024-01-01'", "'2024-01-02'", '"2024-01-01"'],
  tm: ['time', "'10:00'", "'11:00'", '"10:00"'],
  ts: ['timestamp', "'2024-01-01'", "'2024-01-02'", '"2024-01-01T00:00:00"'],
  tz: ['timestamptz', "'2024-01-01Z'", "'2024-01-02Z'", '"2024-01-01T00:00:00Z"'],
  iv: ['interval', "'1 day'", "'2 days'", '"1 day"'],
  ip: ['inet', "'::1'", "'::2'", '"::1"'],
  js: ['jsonb', `'{"a": 1}'`, `'[]'`, '"{}"'],
  tv: ['tsvector', "'a'", "'b'", '"a"'],
  vcs: ['varchar[]', "'{a}'", "'{b}'", '["a"]'],
  txs: ['text[]', "'{a}'", "'{b}'", '["a"]'],
  i4s: ['int4[]', "'{1}'", "'{2}'", '[1]'],
  i8s: ['int8[]', "'{1}'", "'{2}'", '["1"]'],
  nus: ['numeric[]', "'{1}'", "'{2}'", '["1"]'],
  ids: ['uuid[]', "'{00000000-0000-0000-0000-000000000001}'", "'{}'", '["00000000-0000-0000-0000-000000000001"]'],
  tzs: ['timestamptz[]', "'{2024-01-01Z}'", "'{}'", '["2024-01-01T00:00:00Z"]'],
  ens: ['api.mood[]', "'{glad}'", "'{sad}'", '[glad]'],
  cis: ['ext.citext[]', "'{A}'", "'{b}'", '["a"]'],
};
const names = Object.keys(columns);
const types = [...new Set(names.map((name) => columns[name]![0].replace('char(3)', 'bpchar').replace('(9)', '')))];

/** Keys and references of these types, in pairs: text, enum, domain, citext, uuid, and one of four columns. */
const keys = ['vc', 'en', 'dm', 'dci', 'ci', 'id'];
const wide = ['vc', 'dm', 'en', 'tz'];

/** Operands that are no value of the type. */
const ofJson: Readonly<Record<string, string>> = {
  at: '{path: ["a"], text: {in: ["1"], like: "1"}, number: {gte: "1"}, boolean: {eq: true}, json: {matches: "$"}, is: NOT_NULL}',
  matches: '"$.a == 1"',
  config: '"simple", plain: "a"',
};

const typeOf = (name: string) => columns[name]![0];
const values = (list: readonly string[], index: 1 | 2) => list.map((name) => columns[name]![index]).join();

const tables = `
  do $$ begin create role mallory; exception when duplicate_object or unique_violation then null; end $$;
  create schema api;
  create schema ext;
  create extension citext schema ext;
  create type api.mood as enum ('glad', 'sad');
  create type api.odd as enum ('dark-blue', 'green');
  comment on type api.odd is '@graphql({"mappings": {"dark-blue": "DARK_BLUE"}})';
  create domain api.code as text;
  create domain api.amount as int4;
  create domain api.email as ext.citext;
  create table api.every (no serial primary key, ${names.map((name) => `${name} ${typeOf(name)}`).join()});
  insert into api.every (${names.join()}) values (${values(names, 1)}), (${values(names, 2)}), (${names.map(() => 'null').join()});
  ${keys
    .map(
      (key) => `
    create table api.parent_${key} (k ${typeOf(key)} primary key, note varchar default 'none' || '!');
    create table api.child_${key} (n int4 primary key, k ${typeOf(key)} references api.parent_${key});
    insert into api.parent_${key} values (${columns[key]![1]}), (${columns[key]![2]});
    insert into api.child_${key} select 1, k from api.parent_${key} limit 1;
    comment on table api.parent_${key} is '@graphql({"totalCount": {"enabled": true}})';`,
    )
    .join('')}
  create table api.wide (${wide.map((name) => `${name} ${typeOf(name)}`).join()}, primary key (${wide.join()}));
  insert into api.wide values (${values(wide, 1)}), (${values(wide, 2)});
  create function api.made(api.code) returns text language sql return 'made ' || $1;
  create table api.filled (no serial primary key, note varchar, a varchar default 'a'::varchar || 'b'::varchar, b text default lower('B'::varchar),
    c numeric default 1 + 2.5, d text default api.made('x'), e timestamptz default now() - interval '1 day', f jsonb default jsonb_build_object('a', 1));
  comment on table api.every is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
  comment on table api.wide is '@graphql({"totalCount": {"enabled": true}})';
  create function api.twice(v varchar) returns varchar stable language sql return v;
  create function api.noted(v api.code) returns varchar volatile language sql return v;
  create function api.label(e api.every) returns varchar stable language sql return e.vc;
  create function api.all_of(v varchar) returns setof api.every stable language sql begin atomic select * from api.every; end;
  grant usage on schema api, ext to mallory, anon, authenticated, service_role;
  grant all on all tables in schema api to anon, authenticated, service_role;
  grant all on all sequences in schema api to anon, authenticated, service_role;`;

let database: TestDatabase;
let execution: TestExecution;
beforeAll(async () => {
  database = await createDatabase(tables, plantCaptures(types));
  execution = await startExecution(database, { schemas: ['api'] });
});

/** A filter of each operator, also of elements. */
function entriesOf(filter: GraphQLInputObjectType, literal: string): readonly string[] {
  return Object.entries(filter.getFields()).flatMap(([operator, { type }]) => {
    if (operator.endsWith('Element')) {
      const elements = entriesOf(getNamedType(type) as GraphQLInputObjectType, literal.slice(1, -1));
      return elements.map((entry) => `{${operator}: ${entry}}`);
    }
    const isList = isListType(type) && !literal.startsWith('[');
    const plain = operator === 'is' ? 'NOT_NULL' : isList ? `[${literal}]` : literal;
    return [`{${operator}: ${ofJson[operator] ?? plain}}`];
  });
}

const captured = () => database.query('select who, what, count(*)::int from trap.captured group by 1, 2 order by 1, 2');

test('the planted operators and functions are run by whoever names them without a schema', async () => {
  const comparable = names.filter((name) => name !== 'js');
  await database.query(`begin; set local search_path = api; set local role service_role;
    ${comparable.map((name) => `select count(*) from every where ${name} = ${name};`).join('\n')}
    select min(vc) from every; select 1::int8 - 1::int4; commit`);
  const ran = (await captured()).map(({ who }) => who);
  expect(ran.length).toBeGreaterThan(15);
  expect(new Set(ran)).toEqual(new Set(['service_role']));
  await database.query('truncate trap.captured');
});

describe('no planted code is run', () => {
  // The role with the most rights. Nothing of a statement depends on which of two roles with equal rights asks.
  const role = 'service_role';
  const ask = (query: string, variables: Record<string, unknown> = {}) => execution.data(role, query, { variables });
  /** Asks for fields in few requests. @returns Their answers. */
  const askAll = async (fields: readonly string[], perRequest = 20): Promise<readonly Json[]> => {
    const answers: Json[] = [];
    for (let at = 0; at < fields.length; at += perRequest) {
      const aliased = fields.slice(at, at + perRequest).map((field, index) => `a${index}: ${field}`);
      answers.push(...Object.values(await ask(`{ ${aliased.join(' ')} }`)));
    }
    return answers;
  };
  const expectNone = async () => expect(await captured()).toEqual([]);

  test('by the filters of every type', async () => {
    const { schema } = (await execution.role(role)).shared;
    const filter = schema.getType('everyFilter') as GraphQLInputObjectType;
    const fields: string[] = [];
    for (const [name, field] of Object.entries(filter.getFields())) {
      if (!(name in columns)) continue;
      const literal = columns[name]![3];
      for (const entry of entriesOf(getNamedType(field.type) as GraphQLInputObjectType, literal)) {
        fields.push(
          `everyCollection(filter: {${name}: ${entry}}) { totalCount edges { node { no } } }`,
          `everyCollection(filter: {not: {${name}: ${entry}}}) { aggregate { count } }`,
        );
      }
    }
    expect(fields.length).toBeGreaterThan(500);
    await askAll(fields);
    await expectNone();
  });

  test('by orders, cursors and pages in both directions', async () => {
    const { schema } = (await execution.role(role)).shared;
    const orders = Object.keys((schema.getType('everyOrderBy') as GraphQLInputObjectType).getFields());
    expect(orders.length).toBeGreaterThan(25);
    const info = 'pageInfo { hasNextPage hasPreviousPage startCursor endCursor }';
    const walks: (readonly [collection: string, orderBy: string])[] = [];
    const walk = (...given: (typeof walks)[number]) => walks.push(given);
    const page = ([collection, orderBy]: (typeof walks)[number], args: string) =>
      `${collection}(${args}, orderBy: ${orderBy}) { totalCount ${info} edges { cursor node { nodeId } } }`;
    for (const name of orders) {
      for (const direction of ['AscNullsFirst', 'DescNullsLast']) {
        const order = name.endsWith('Rank') ? `{plain: "a", config: "simple", direction: ${direction}}` : direction;
        walk('everyCollection', `[{${name}: ${order}}]`);
      }
    }
    walk('everyCollection', '[{vc: DescNullsFirst}, {ci: AscNullsLast}, {dm: DescNullsLast}]');
    for (const key of keys) walk(`parent_${key}Collection`, '[]');
    walk('wideCollection', '[]');
    const firsts = await askAll(walks.map((each) => page(each, 'first: 1')));
    await askAll(
      walks.flatMap((each, index) => {
        const { endCursor } = firsts[index].pageInfo;
        const more = [`first: 1, after: "${endCursor}"`, `last: 1, before: "${endCursor}"`, 'last: 2'];
        return more.map((args) => page(each, args));
      }),
    );
    await expectNone();
  });

  test('by node ids, keys and relationships of every type', async () => {
    const visit = async (table: string, fields: string) => {
      const { edges } = (await ask(`{ ${table}Collection { edges { node { nodeId ${fields} } } } }`))[
        `${table}Collection`
      ];
      for (const { node } of edges as Json[]) {
        await ask(`query ($id: ID!) { node(nodeId: $id) { nodeId ... on ${table} { ${fields} } } }`, {
          id: node.nodeId,
        });
        await ask(
          `query ($id: ID!) { ${table}Collection(filter: {nodeId: {eq: $id}}) { edges { node { ${fields} } } } }`,
          {
            id: node.nodeId,
          },
        );
      }
    };
    for (const key of keys) {
      const inner = `child_${key}Collection(first: 1) { edges { node { n } } pageInfo { hasNextPage hasPreviousPage } }`;
      await visit(`parent_${key}`, `k ${inner}`);
      await visit(`child_${key}`, `n parent_${key} { k ${inner} }`);
    }
    await visit('wide', wide.join(' '));
    await visit('every', names.join(' '));
    await expectNone();
  });

  test('by aggregates, computed fields and calls', async () => {
    const { schema } = (await execution.role(role)).shared;
    const fieldsOf = (name: string) =>
      Object.keys((schema.getType(`every${name}AggregateResult`) as GraphQLInputObjectType).getFields()).join(' ');
    const parts = ['Sum', 'Avg', 'Min', 'Max'].map((name) => `${name.toLowerCase()} { ${fieldsOf(name)} }`);
    await ask(`{ everyCollection(filter: {no: {gt: 0}}) { aggregate { count ${parts.join(' ')} } } }`);
    await ask('{ everyCollection { edges { node { label tvRank(plain: "a", config: "simple") } } } }');
    await ask(
      '{ twice(v: "a") all_of(v: "a") { totalCount aggregate { count } edges { cursor node { vc } } pageInfo { hasPreviousPage } } }',
    );
    await ask('mutation { noted(v: "a") }');
    await expectNone();
  });

  test('by inserts, updates and deletes', async () => {
    const object = names.map((name) => `${name}: ${columns[name]![3]}`).join();
    const records = `affectedCount records { nodeId ${names.join(' ')} }`;
    await ask(`mutation { insertIntoeveryCollection(objects: [{${object}}, {vc: "x"}]) { ${records} } }`);
    await ask(`mutation { insertIntoeveryCollection(objects: [{${object}}]) { ${records} } }`);
    const { schema } = (await execution.role(role)).shared;
    const filter = schema.getType('everyFilter') as GraphQLInputObjectType;
    for (const name of names.filter((column) => column in filter.getFields())) {
      const by = `filter: {${name}: {eq: ${columns[name]![3]}}}`;
      await ask(`mutation { updateeveryCollection(set: {${object}}, ${by}, atMost: 50) { ${records} } }`);
    }
    await ask(
      `mutation { deleteFromeveryCollection(filter: {vc: {eq: "a"}, no: {gt: 3}}, atMost: 50) { ${records} } }`,
    );
    for (const key of keys.filter((each) => !isEnumType(schema.getType(each)))) {
      const literal = columns[key]![3];
      const where = `filter: {k: {eq: ${literal}}}`;
      await ask(
        `mutation { updateparent_${key}Collection(set: {note: "x"}, ${where}) { affectedCount records { k note } } }`,
      );
    }
    const filled = 'records { a b c d e f }';
    await ask(`mutation { insertIntofilledCollection(objects: [{note: "lacks all"}]) { ${filled} } }`);
    const { insertIntofilledCollection } = await ask(`mutation { insertIntofilledCollection(objects: [
      {note: "lacks all"}, {a: "x", b: "x", c: "1", d: "x", e: "2024-01-01T00:00:00Z", f: "{}"}, {b: "y"}]) { ${filled} } }`);
    expect(insertIntofilledCollection.records).toMatchObject([
      { a: 'ab', b: 'b', c: '3.5', d: 'made x', f: '{"a": 1}' },
      { a: 'x', b: 'x', c: '1', d: 'x', f: '{}' },
      { a: 'ab', b: 'y', c: '3.5', d: 'made x', f: '{"a": 1}' },
    ]);
    await expectNone();
  });
});
