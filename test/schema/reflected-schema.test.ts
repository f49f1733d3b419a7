/** The GraphQL schema of real databases: what roles see, in the words of the manual. */
import {
  buildClientSchema,
  type GraphQLSchema,
  getIntrospectionQuery,
  type IntrospectionQuery,
  isInputObjectType,
  isObjectType,
  parse,
  printType,
  validateSchema,
} from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { readCatalog } from '../../src/graphql/catalog/read-catalog.ts';
import { answerIntrospection } from '../../src/graphql/execute/introspection/answer-introspection.ts';
import { buildModel } from '../../src/graphql/model/build-model.ts';
import type { Model } from '../../src/graphql/model/model.ts';
import { buildIntrospectionSchema, buildSchema } from '../../src/graphql/schema/build-schema.ts';
import { validateDocument } from '../../src/graphql/schema/validate.ts';
import { createSystemPool, type SystemPool } from '../../src/postgres/system/run-system.ts';
import { withoutPauses } from '../../src/shared/slices.ts';
import { createDatabase, fixture, type TestDatabase } from '../support/postgres.ts';

/** The sample schema, where anon may only read two of its tables, and the service role may not use it. */
const sample = `${fixture('lib.sql')}
  revoke all on all tables in schema lib from anon;
  grant select on lib.patron, lib.volume to anon;
  revoke usage on schema lib from service_role;`;

/** Reads the model of a role afresh. */
async function modelOf(database: TestDatabase, role: string, ...schemas: string[]): Promise<Model> {
  const pool: SystemPool = createSystemPool({
    connectionString: database.url,
    size: 1,
    waitMs: 60_000,
    applicationName: 'test',
    onError: () => {},
  });
  try {
    return buildModel(await readCatalog(pool, schemas), { role, extensions: [] });
  } finally {
    await pool.stop();
  }
}

function fieldNames(schema: GraphQLSchema, name: string): string[] {
  const type = schema.getType(name);
  return isObjectType(type) || isInputObjectType(type) ? Object.keys(type.getFields()) : [];
}

function sdl(schema: GraphQLSchema, ...names: string[]): string {
  return names.map((name) => printType(schema.getType(name)!)).join('\n');
}

async function introspect(model: Model): Promise<IntrospectionQuery> {
  const building = buildIntrospectionSchema(model);
  if (building === null) throw new Error('expected introspection to be on');
  const schema = withoutPauses(building);
  const document = parse(getIntrospectionQuery());
  const unbounded = { maxBytes: 256 * 1024 * 1024, signal: null };
  const request = { document, operationName: null, variableValues: {}, responseKeys: null, ...unbounded };
  const answer = await answerIntrospection(schema, request);
  return { __schema: JSON.parse(String(answer.get('__schema'))) } as IntrospectionQuery;
}

describe('the sample of the manual', () => {
  let full: GraphQLSchema;
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createDatabase(sample);
    full = buildSchema(await modelOf(database, 'authenticated', 'lib'));
  });

  test('the sample of the manual gives the types and the order that the manual shows', () => {
    expect(sdl(full, 'Volume', 'VolumeFilter', 'VolumeOrderBy', 'VolumeInsertInput', 'LoanState')).toBe(
      `type Volume implements Node {
  nodeId: ID!
  shelfMark: String!
  title: String!
  tags: [String]!
  acquiredOn: Date
  loanCollection(first: Int, last: Int, before: Cursor, after: Cursor, offset: Int, filter: LoanFilter, orderBy: [LoanOrderBy!]): LoanConnection
}
input VolumeFilter {
  shelfMark: StringFilter
  title: StringFilter
  tags: StringListFilter
  acquiredOn: DateFilter
  nodeId: IDFilter
  and: [VolumeFilter!]
  or: [VolumeFilter!]
  not: VolumeFilter
}
input VolumeOrderBy {
  shelfMark: OrderByDirection
  title: OrderByDirection
  acquiredOn: OrderByDirection
}
input VolumeInsertInput {
  shelfMark: String
  title: String
  tags: [String]
  acquiredOn: Date
}
enum LoanState {
  out
  returned
  lost
}`,
    );
    expect(fieldNames(full, 'Query')).toEqual([
      ...['loanByPk', 'loanCollection', 'node', 'patronByPk', 'patronCollection', 'volumeByPk', 'volumeCollection'],
    ]);
    expect(sdl(full, 'Query')).toContain('loanByPk(patronId: BigInt!, shelfMark: String!, seq: Int!): Loan');
    expect(sdl(full, 'Mutation')).toContain(
      'updateVolumeCollection(set: VolumeUpdateInput!, filter: VolumeFilter, atMost: Int! = 1): VolumeUpdateResponse!',
    );
  });

  test('the sample of the manual names relationships after their columns or tables, with the nullability of the keys', () => {
    expect(sdl(full, 'Loan')).toContain('  state: LoanState!\n  patron: Patron!\n  volume: Volume!\n');
    expect(fieldNames(full, 'Patron')).toEqual([
      ...['nodeId', 'id', 'fullName', 'sponsorId', 'sponsor', 'patronCollection', 'loanCollection'],
    ]);
    // The identity is read, never written.
    expect(fieldNames(full, 'PatronInsertInput')).toEqual(['fullName', 'sponsorId']);
  });

  test('a role that may only read some tables sees no trace of the others, and no mutation', async () => {
    const schema = buildSchema(await modelOf(database, 'anon', 'lib'));
    expect(fieldNames(schema, 'Query')).toEqual([
      'node',
      'patronByPk',
      'patronCollection',
      'volumeByPk',
      'volumeCollection',
    ]);
    expect(schema.getMutationType()).toBeUndefined();
    expect(Object.keys(schema.getTypeMap()).filter((name) => /^Loan(?!State)/.test(name))).toEqual([]);
    expect(fieldNames(schema, 'Volume')).not.toContain('loanCollection');
    const errors = validateDocument(schema, parse('mutation { deleteFromPatronCollection { affectedCount } }'), {
      strictVariablePositions: false,
      suggestions: false,
    });
    expect(errors.map((error) => error.message)).toEqual(['The mutation operation is not supported by the schema.']);
  });

  test('a role without use of any namespace has the empty schema', async () => {
    const schema = buildSchema(await modelOf(database, 'service_role', 'lib'));
    expect(fieldNames(schema, 'Query')).toEqual(['node']);
  });

  test('the sample of the manual is described completely to a role, and differently to each', async () => {
    for (const role of ['authenticated', 'anon']) {
      const client = buildClientSchema(await introspect(await modelOf(database, role, 'lib')));
      expect(validateSchema(client)).toEqual([]);
      expect(client.getType('Loan') !== undefined).toBe(role === 'authenticated');
    }
  });
});

describe('unusual names and types', () => {
  let schema: GraphQLSchema;
  let model: Model;

  beforeAll(async () => {
    const database = await createDatabase(`
      create schema app; create schema other;
      comment on schema app is '@graphql({"introspection": true})';
      create type app.yes_no as enum ('true', 'false');
      create type app.mood as enum ('so so', 'good', 'bad');
      comment on type app.mood is '@graphql({"name": "Mood", "mappings": {"good": "GOOD"}})';
      create table app.everything (
        id int primary key, small smallint, big bigint, real_one real, exact numeric, flag boolean, letter char(3),
        key uuid, day date, moment time, stamp timestamptz, data jsonb, address inet,
        bigs bigint[], datas json[], moods app.mood[], mood app.mood, answer app.yes_no,
        "and" int, "or" int, "not" int, node_id int, "nodeId" int, "weird name" int, "quo""te" text
      );
      create table app."Query" (id int primary key);
      create table app.only_odd ("a b" int primary key);
      create table app.no_key (id int);
      create view app.plain as select id, data from app.everything;
      create view app.keyed as select id, small from app.everything;
      comment on view app.keyed is '@graphql({"primary_key_columns": ["id"], "totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
      create table other.bill (id int primary key, everything_id int references app.everything (id));
      create function app.answer(days int default 7, note text default 'a "b"') returns int stable language sql as 'select 1';
      create function app._initial(app.everything) returns text stable language sql as 'select null::text';
      create function app.list() returns setof app.everything stable language sql as 'select * from app.everything';
      create function app.act() returns void volatile language sql as 'select';
      grant usage on schema app, other to anon;
      grant all on all tables in schema app, other to anon;`);
    model = await modelOf(database, 'anon', 'app', 'other');
    schema = buildSchema(model);
  });

  test('each type of PostgreSQL has its scalar', () => {
    expect(sdl(schema, 'everything')).toContain(`  id: Int!
  small: Int
  big: BigInt
  real_one: Float
  exact: BigFloat
  flag: Boolean
  letter: String
  key: UUID
  day: Date
  moment: Time
  stamp: Datetime
  data: JSON
  address: Opaque
  bigs: [BigInt]
  datas: [JSON]
  moods: [Mood]
  mood: Mood
`);
  });

  test('JSON, and lists of JSON and enums, are not in the filter; the operators come last', () => {
    const names = fieldNames(schema, 'everythingFilter');
    expect(names).not.toContain('data');
    expect(names).not.toContain('datas');
    expect(names).not.toContain('moods');
    expect(names).toContain('bigs');
    expect(names.at(-1)).toBe('nodeId');
  });

  test('columns called and, or, not are filters of columns; the global id is never replaced', () => {
    expect(sdl(schema, 'everythingFilter')).toContain('and: IntFilter\n  or: IntFilter\n  not: IntFilter');
    expect(sdl(schema, 'everythingFilter')).toContain('nodeId: IDFilter');
    expect(sdl(schema, 'everything')).toContain('nodeId: ID!\n  id: Int!');
    expect(fieldNames(schema, 'everything')).toContain('node_id');
    expect(fieldNames(schema, 'everything')).not.toContain('weird name');
  });

  test('an enum keeps the values that have a name; one without any is opaque', () => {
    expect(sdl(schema, 'Mood')).toBe('enum Mood {\n  GOOD\n  bad\n}');
    expect(schema.getType('yes_no')).toBeUndefined();
    expect(sdl(schema, 'everything')).toContain('answer: Opaque');
  });

  test('tables without key, or named like a type of the API, are left out', () => {
    expect(fieldNames(schema, 'Query')).toEqual([
      ...['answer', 'billByPk', 'billCollection', 'everythingByPk', 'everythingCollection', 'keyedByPk'],
      ...['keyedCollection', 'list', 'node', 'only_oddCollection'],
    ]);
    expect(fieldNames(schema, 'only_odd')).toEqual(['nodeId']);
  });

  test('views are written like tables, counted where enabled', () => {
    expect(fieldNames(schema, 'Mutation')).toContain('insertIntokeyedCollection');
    expect(fieldNames(schema, 'keyedConnection')).toEqual(['edges', 'pageInfo', 'totalCount', 'aggregate']);
  });

  test('functions are fields of the root they belong to, or of a row', () => {
    expect(sdl(schema, 'Query')).toContain('answer(days: Int, note: String): Int');
    expect(sdl(schema, 'Query')).toContain('list(first: Int');
    expect(sdl(schema, 'Mutation')).toContain('act: Opaque');
    expect(fieldNames(schema, 'everything')).toContain('initial');
  });

  test('introspection shows the namespace that opted in, closed, with the defaults of functions', async () => {
    const introspection = await introspect(model);
    const client = buildClientSchema(introspection);
    expect(validateSchema(client)).toEqual([]);
    expect(Object.keys(client.getTypeMap()).filter((name) => name.startsWith('bill'))).toEqual([]);
    expect(fieldNames(client, 'everything')).not.toContain('billCollection');
    expect(sdl(client, 'Query')).toContain('answer(days: Int = 7, note: String = "a \\"b\\""): Int');
  });

  test('the whole schema is valid GraphQL', () => {
    const fresh = buildSchema(model);
    Object.assign(fresh, { __validationErrors: undefined });
    expect(validateSchema(fresh)).toEqual([]);
  });
});
