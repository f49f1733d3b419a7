import {
  GraphQLInt,
  type GraphQLSchema,
  isInputObjectType,
  isObjectType,
  parse,
  printType,
  validateSchema,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import type { Model } from '../../../../src/graphql/model/model.ts';
import { buildSchema } from '../../../../src/graphql/schema/build-schema.ts';
import { argumentOrigin, fieldOrigin, inputFieldOrigin } from '../../../../src/graphql/schema/origin.ts';
import { type RootEntry, RootType } from '../../../../src/graphql/schema/types/root-type.ts';
import { validateDocument } from '../../../../src/graphql/schema/validate.ts';
import {
  column,
  enumType,
  enumValue,
  libraryModel,
  listOf,
  model,
  relationship,
  routine,
  scalar,
  table,
} from '../../../support/model-builder.ts';

/** The given types in SDL, without descriptions of our own. */
function sdl(source: Model | GraphQLSchema, ...names: string[]): string {
  const schema = 'tables' in source ? buildSchema(source) : source;
  return names.map((name) => printType(schema.getType(name)!)).join('\n');
}

function fieldNames(source: Model, name: string): string[] {
  const type = buildSchema(source).getType(name);
  return isObjectType(type) || isInputObjectType(type) ? Object.keys(type.getFields()) : [];
}

describe('a table with every privilege', () => {
  test('a table with every privilege has the types of the manual, in its order', () => {
    const schema = buildSchema(libraryModel());
    expect(
      sdl(
        schema,
        ...['Node', 'Volume', 'VolumeConnection', 'VolumeEdge', 'PageInfo', 'VolumeFilter', 'VolumeOrderBy'],
        ...['VolumeInsertInput', 'VolumeUpdateInput', 'VolumeInsertResponse', 'VolumeUpdateResponse'],
        'VolumeDeleteResponse',
      ),
    ).toBe(`interface Node {
  nodeId: ID!
}
type Volume implements Node {
  nodeId: ID!
  shelfMark: String!
  title: String!
  tags: [String]!
  acquiredOn: Date
  loanCollection(first: Int, last: Int, before: Cursor, after: Cursor, offset: Int, filter: LoanFilter, orderBy: [LoanOrderBy!]): LoanConnection
}
type VolumeConnection {
  edges: [VolumeEdge!]!
  pageInfo: PageInfo!
}
type VolumeEdge {
  cursor: String!
  node: Volume!
}
type PageInfo {
  endCursor: String
  hasNextPage: Boolean!
  hasPreviousPage: Boolean!
  startCursor: String
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
input VolumeUpdateInput {
  shelfMark: String
  title: String
  tags: [String]
  acquiredOn: Date
}
type VolumeInsertResponse {
  affectedCount: Int!
  records: [Volume!]!
}
type VolumeUpdateResponse {
  affectedCount: Int!
  records: [Volume!]!
}
type VolumeDeleteResponse {
  affectedCount: Int!
  records: [Volume!]!
}`);
  });

  test('a table with every privilege has its root fields, ordered by name among those of the other tables', () => {
    const volumeOnly = {
      ...libraryModel(),
      tables: new Map([...libraryModel().tables].filter(([oid]) => oid === '2')),
    };
    expect(sdl(volumeOnly, 'Query', 'Mutation')).toBe(`type Query {
  node(nodeId: ID!): Node
  volumeByPk(shelfMark: String!): Volume
  volumeCollection(first: Int, last: Int, before: Cursor, after: Cursor, offset: Int, filter: VolumeFilter, orderBy: [VolumeOrderBy!]): VolumeConnection!
}
type Mutation {
  deleteFromVolumeCollection(filter: VolumeFilter, atMost: Int! = 1): VolumeDeleteResponse!
  insertIntoVolumeCollection(objects: [VolumeInsertInput!]!): VolumeInsertResponse
  updateVolumeCollection(set: VolumeUpdateInput!, filter: VolumeFilter, atMost: Int! = 1): VolumeUpdateResponse!
}`);
    expect(fieldNames(libraryModel(), 'Query')).toEqual([
      ...['loanByPk', 'loanCollection', 'node', 'patronByPk', 'patronCollection', 'volumeByPk', 'volumeCollection'],
    ]);
  });

  test('looks a composite key up by one required argument per column, in key order', () => {
    expect(sdl(libraryModel(), 'Query')).toContain('loanByPk(patronId: BigInt!, shelfMark: String!, seq: Int!): Loan');
  });

  test('a table with every privilege is a valid schema', () => {
    const schema = buildSchema(libraryModel());
    Object.assign(schema, { __validationErrors: undefined });
    expect(validateSchema(schema)).toEqual([]);
  });

  test('a table with every privilege leads from every field, argument and input field back to the model', () => {
    const library = { ...libraryModel(), routines: new Map([['7', routine('7', 'closing')]]) };
    const schema = buildSchema(library);
    for (const type of Object.values(schema.getTypeMap())) {
      if (type.name.startsWith('__')) continue;
      if (isInputObjectType(type)) for (const f of Object.values(type.getFields())) inputFieldOrigin(f);
      if (!isObjectType(type)) continue;
      for (const field of Object.values(type.getFields())) {
        fieldOrigin(field);
        for (const argument of field.args) argumentOrigin(argument);
      }
    }
  });
});

describe('privileges', () => {
  test('a role that may only read has no mutation type', () => {
    const readOnly = { insert: false, update: false, delete: false };
    const schema = buildSchema(model({ tables: [table('1', 'Log', [column('id', 'Int')], readOnly)] }));
    expect(schema.getMutationType()).toBeUndefined();
    expect(schema.getType('LogInsertInput')).toBeUndefined();
    expect(schema.getType('LogUpdateResponse')).toBeUndefined();
  });

  test('each missing entrypoint takes exactly its own field and types away', () => {
    const { schema, fields } = withEntrypoints({ insert: true, update: false, delete: true });
    expect(fields).toEqual(['deleteFromLogCollection', 'insertIntoLogCollection']);
    expect(schema.getType('LogUpdateInput')).toBeUndefined();
    expect(schema.getType('LogUpdateResponse')).toBeUndefined();
    expect(schema.getType('LogDeleteResponse')).toBeDefined();
  });

  test('inputs hold only the columns that may be written, the filter only those that may be read', () => {
    const tables = [
      table('1', 'Log', [
        column('id', 'Int', { insertable: false, updatable: false }),
        column('note', 'String', { updatable: false }),
        column('secret', 'String', { readable: false, filterable: false, orderable: false, insertable: false }),
        column('place', 'Opaque', { filterable: false }),
      ]),
    ];
    expect(fieldNames(model({ tables }), 'Log')).toEqual(['nodeId', 'id', 'note', 'place']);
    expect(fieldNames(model({ tables }), 'LogInsertInput')).toEqual(['note', 'place']);
    expect(fieldNames(model({ tables }), 'LogUpdateInput')).toEqual(['secret', 'place']);
    expect(fieldNames(model({ tables }), 'LogFilter')).toEqual(['id', 'note', 'nodeId', 'and', 'or', 'not']);
    expect(fieldNames(model({ tables }), 'LogOrderBy')).toEqual(['id', 'note', 'place']);
  });

  test('a role without any table sees node alone', () => {
    expect(fieldNames(model({}), 'Query')).toEqual(['node']);
    expect(buildSchema(model({})).getMutationType()).toBeUndefined();
  });

  function withEntrypoints(entrypoints: { insert: boolean; update: boolean; delete: boolean }) {
    const source = model({ tables: [table('1', 'Log', [column('id', 'Int')], entrypoints)] });
    return { schema: buildSchema(source), fields: fieldNames(source, 'Mutation') };
  }
});

describe('columns', () => {
  test('JSON can be read and written, not filtered or ordered', () => {
    const source = model({ tables: [table('1', 'Log', [column('id', 'Int'), column('data', 'JSON')])] });
    expect(sdl(source, 'Log')).toContain('data: JSON');
    expect(fieldNames(source, 'LogFilter')).not.toContain('data');
    expect(fieldNames(source, 'LogOrderBy')).toEqual(['id']);
    expect(fieldNames(source, 'LogInsertInput')).toContain('data');
  });

  test('a list is filtered by its list filter and cannot be ordered', () => {
    const source = model({ tables: [table('1', 'Log', [column('id', 'Int'), column('marks', listOf('BigInt'))])] });
    expect(sdl(source, 'Log', 'LogFilter')).toContain('marks: [BigInt]');
    expect(sdl(source, 'LogFilter')).toContain('marks: BigIntListFilter');
    expect(fieldNames(source, 'LogOrderBy')).toEqual(['id']);
  });

  test('a column with an invalid name takes part in nothing, and its table keeps the global id', () => {
    const source = model({
      tables: [table('1', 'Odd', [column(null, 'Int')], { insert: false, update: false, byPk: true })],
    });
    expect(fieldNames(source, 'Odd')).toEqual(['nodeId']);
    expect(fieldNames(source, 'OddFilter')).toEqual(['nodeId', 'and', 'or', 'not']);
    // An input without fields is not a valid type.
    expect(buildSchema(source).getType('OddOrderBy')).toBeUndefined();
    expect(sdl(source, 'Query')).toContain(
      'oddCollection(first: Int, last: Int, before: Cursor, after: Cursor, offset: Int, filter: OddFilter)',
    );
    expect(fieldNames(source, 'Query')).not.toContain('oddByPk');
  });

  test('descriptions of tables, columns and routines are shown on type, object field and field', () => {
    const tables = [
      table('1', 'Log', [column('id', 'Int', { description: 'Counts up.' })], { description: 'What happened.' }),
    ];
    const schema = buildSchema(model({ tables, routines: [routine('7', 'now', { description: 'The time.' })] }));
    const log = schema.getType('Log');
    expect(log?.description).toBe('What happened.');
    expect(isObjectType(log) && log.getFields().id?.description).toBe('Counts up.');
    expect(schema.getQueryType()?.getFields().now?.description).toBe('The time.');
    const filter = schema.getType('LogFilter');
    expect(isInputObjectType(filter) && filter.getFields().id?.description).toBeUndefined();
  });
});

describe('fields with the same name', () => {
  const computed = (fieldName: string, oid = '7') => routine(oid, fieldName, { use: 'computed', table: '1' });

  test('a computed field hides a relationship, a relationship hides a column', () => {
    const columns = [column('id', 'Int'), column('owner', 'String'), column('age', 'Int'), column('last', 'Int')];
    const relationships = [relationship('owner', '1', 'one'), relationship('age', '1', 'one')];
    const tables = [table('1', 'Log', columns, { relationships, computedFields: ['7'] })];
    const source = model({ tables, routines: [computed('age')] });
    expect(sdl(source, 'Log')).toBe(
      'type Log implements Node {\n  nodeId: ID!\n  id: Int\n  last: Int\n  owner: Log\n  age: String\n}',
    );
  });

  test('of two relationships or columns of one name the later is reachable', () => {
    const relationships = [relationship('xCollection', '2', 'many'), relationship('xCollection', '1', 'many')];
    const columns = [column('id', 'Int'), column('loanState', 'Int'), column('loanState', 'String')];
    const tables = [table('1', 'Log', columns, { relationships }), table('2', 'X', [column('id', 'Int')])];
    expect(sdl(model({ tables }), 'Log')).toContain('): LogConnection');
    expect(sdl(model({ tables }), 'Log')).not.toContain('XConnection');
    expect(sdl(model({ tables }), 'LogFilter')).toContain('loanState: StringFilter');
    expect(fieldNames(model({ tables }), 'LogInsertInput')).toEqual(['id', 'loanState']);
  });

  test('nothing replaces the global id', () => {
    const columns = [column('id', 'Int'), column('nodeId', 'Int')];
    const relationships = [relationship('nodeId', '1', 'one')];
    const tables = [table('1', 'Log', columns, { relationships, computedFields: ['7'] })];
    const source = model({ tables, routines: [computed('nodeId')] });
    expect(sdl(source, 'Log')).toBe('type Log implements Node {\n  nodeId: ID!\n  id: Int\n}');
    expect(sdl(source, 'LogFilter')).toContain('nodeId: IDFilter');
    expect(fieldNames(source, 'LogInsertInput')).toEqual(['id', 'nodeId']);
    expect(fieldNames(source, 'LogOrderBy')).toEqual(['id', 'nodeId']);
  });

  test('columns called and, or, not replace the boolean operators of those names', () => {
    const tables = [table('1', 'Log', [column('and', 'Int'), column('not', 'String')])];
    expect(sdl(model({ tables }), 'LogFilter')).toBe(
      'input LogFilter {\n  and: IntFilter\n  not: StringFilter\n  nodeId: IDFilter\n  or: [LogFilter!]\n}',
    );
  });

  test('root fields of tables win over routines, the younger routine over the older', () => {
    const routines = [
      routine('100', 'same', { result: { kind: 'value', type: scalar('Int') } }),
      routine('20', 'same'),
      routine('8', 'logCollection'),
      routine('9', 'node'),
      routine('11', 'insertIntoLogCollection', { use: 'mutation' }),
    ];
    const source = model({ tables: [table('1', 'Log', [column('id', 'Int')])], routines });
    expect(sdl(source, 'Query')).toContain('same: Int');
    expect(sdl(source, 'Query')).toContain('): LogConnection!');
    expect(sdl(source, 'Query')).toContain('node(nodeId: ID!): Node');
    expect(sdl(source, 'Mutation')).toContain('): LogInsertResponse');
  });

  test('of tables that differ in the case of one letter the older keeps the root fields', () => {
    const tables = [
      table('30', 'A', [column('x', 'String')], { rootField: false }),
      table('4', 'a', [column('id', 'Int')]),
    ];
    expect(sdl(model({ tables }), 'Query')).toContain('aByPk(id: Int!): a\n');
    expect(sdl(model({ tables }), 'Query')).toContain('): aConnection!');
    expect(fieldNames(model({ tables }), 'Mutation')).toHaveLength(6);
  });
});

describe('enums', () => {
  const state = enumType('9', 'State', ['open', ['in work', 'WORKING'], ['on hold', null], ['true', null]]);

  test('values keep the order of PostgreSQL, under their GraphQL names', () => {
    const source = model({ enums: [state] });
    expect(sdl(source, 'State', 'StateFilter')).toBe(
      'enum State {\n  open\n  WORKING\n}\n' +
        'input StateFilter {\n  eq: State\n  in: [State!]\n  is: FilterIs\n  neq: State\n}',
    );
  });

  test('a column uses the enum, a list of it is not filterable', () => {
    const list = { kind: 'list', element: enumValue('9'), cast: scalar('Int').cast } as const;
    const columns = [column('state', enumValue('9')), column('past', list, { filterable: false })];
    const source = model({ enums: [state], tables: [table('1', 'Log', columns, { byPk: false })] });
    expect(sdl(source, 'Log')).toContain('state: State\n  past: [State]');
    expect(sdl(source, 'LogFilter')).toContain('state: StateFilter\n  nodeId');
  });

  test('an enum of which no value can be written is opaque', () => {
    const columns = [column('flag', enumValue('8'))];
    const source = model({
      enums: [
        enumType('8', 'Flag', [
          ['true', null],
          ['a b', null],
        ]),
      ],
      tables: [table('1', 'Log', columns)],
    });
    expect(sdl(source, 'Log')).toContain('flag: Opaque');
    expect(sdl(source, 'LogFilter')).toContain('flag: OpaqueFilter');
    expect(buildSchema(source).getType('Flag')).toBeUndefined();
    expect(buildSchema(source).getType('FlagFilter')).toBeUndefined();
  });
});

describe('counts and aggregates', () => {
  const columns = [
    column('id', 'Int', { sum: 'BigInt', avg: 'BigFloat', min: 'Int', max: 'Int' }),
    column('title', 'String', { min: 'String', max: 'String' }),
    column('key', 'UUID'),
  ];

  test('exist only where the table enables them', () => {
    expect(fieldNames(model({ tables: [table('1', 'Log', columns)] }), 'LogConnection')).toEqual(['edges', 'pageInfo']);
    const source = model({ tables: [table('1', 'Log', columns, { totalCount: true, aggregate: true })] });
    expect(sdl(source, 'LogConnection', 'LogAggregate', 'LogSumAggregateResult', 'LogMinAggregateResult')).toBe(
      `type LogConnection {
  edges: [LogEdge!]!
  pageInfo: PageInfo!
  totalCount: Int!
  aggregate: LogAggregate
}
type LogAggregate {
  count: Int!
  sum: LogSumAggregateResult
  avg: LogAvgAggregateResult
  min: LogMinAggregateResult
  max: LogMaxAggregateResult
}
type LogSumAggregateResult {
  id: BigInt
}
type LogMinAggregateResult {
  id: Int
  title: String
}`,
    );
  });

  test('a function that no column can take has neither field nor type', () => {
    const source = model({ tables: [table('1', 'Log', [columns[1]!, columns[2]!], { aggregate: true })] });
    expect(fieldNames(source, 'LogAggregate')).toEqual(['count', 'min', 'max']);
    expect(buildSchema(source).getType('LogSumAggregateResult')).toBeUndefined();
  });
});

describe('relationships', () => {
  test('to one is non-null where the model says so, to many is nullable', () => {
    expect(sdl(libraryModel(), 'Loan')).toContain('patron: Patron!\n  volume: Volume!');
    expect(sdl(libraryModel(), 'Patron')).toMatch(/sponsor: Patron\n {2}patronCollection\(.*\): PatronConnection\n/);
  });
});

describe('routines', () => {
  const log = table('1', 'Log', [column('id', 'Int')]);
  const argument = (name: string, required: boolean, displayDefault: string | null = null) => ({
    name,
    fieldName: name,
    isVariadic: false,
    type: scalar('Int'),
    required,
    displayDefault,
  });

  test('results are nullable; a set is a connection whose own arguments come first', () => {
    const routines = [
      routine('7', 'number', { result: { kind: 'value', type: listOf('BigInt') } }),
      routine('8', 'nothing', { result: { kind: 'void' } }),
      routine('9', 'one', { result: { kind: 'row', table: '1' } }),
      routine('10', 'many', { result: { kind: 'set', table: '1' }, arguments: [argument('days', true)] }),
      routine('11', 'act', { use: 'mutation' }),
    ];
    const query = sdl(model({ tables: [log], routines }), 'Query');
    expect(query).toContain('number: [BigInt]\n');
    expect(query).toContain('nothing: Opaque\n');
    expect(query).toContain('one: Log\n');
    expect(query).toContain('many(days: Int!, first: Int, ');
    expect(query).toContain('): LogConnection\n');
    expect(fieldNames(model({ tables: [log], routines }), 'Mutation')).toContain('act');
  });

  test('a default makes an argument nullable and is not part of the schema that operations use', () => {
    const routines = [routine('7', 'renew', { arguments: [argument('days', false, '7')] })];
    expect(sdl(model({ routines }), 'Query')).toContain('renew(days: Int): String');
  });

  test('computed fields come last, a set with the arguments of a connection', () => {
    const routines = [
      routine('7', 'later', { use: 'computed', table: '1', result: { kind: 'set', table: '1' } }),
      routine('8', 'whole', { use: 'computed', table: '1', result: { kind: 'record' } }),
    ];
    const source = model({ tables: [{ ...log, computedFields: ['7', '8'] }], routines });
    expect(fieldNames(source, 'Log')).toEqual(['nodeId', 'id', 'later', 'whole']);
    expect(sdl(source, 'Log')).toMatch(/later\(first: Int, .*\): LogConnection\n {2}whole: Opaque/);
    expect(fieldNames(source, 'Query')).toEqual(['logByPk', 'logCollection', 'node']);
  });
});

test('a type of the schema or a field of its roots is made when it is read, and once', () => {
  let made = 0;
  const field = () => {
    made += 1;
    return { type: GraphQLInt };
  };
  const entries: readonly RootEntry[] = [
    ['b', field],
    ['a', field],
    ['hidden', null],
    ['b', field],
  ];
  const source = { find: (name: string) => new Map(entries).get(name) ?? null, entries: () => entries };
  const root = new RootType('Query', source, { description: null, describe: () => {} });
  const fields = root.getFields();
  expect([Object.keys(fields), 'a' in fields, 'hidden' in fields, 'constructor' in fields]).toEqual([
    ['a', 'b'],
    ...[true, false, false],
  ]);
  expect([fields.hidden, fields.constructor, made]).toEqual([undefined, undefined, 0]);
  expect(fields.b).toMatchObject({ name: 'b', type: GraphQLInt, parentType: root });
  expect([root.getFields().b === fields.b, made]).toEqual([true, 1]);
  expect([Object.values(fields).map(({ name }) => name), made]).toEqual([['a', 'b'], 2]);

  const types = buildSchema(libraryModel()).getTypeMap();
  expect(Object.keys(types)).toEqual(Object.keys(types).sort());
  expect(Object.values(types).map(({ name }) => name)).toEqual(Object.keys(types));
  const { Loan } = types;
  expect([types.Loan === Loan, types.toString]).toEqual([true, undefined]);
});

test('a thousand tables of twenty columns cost little until an operation names them', () => {
  const columns = Array.from({ length: 20 }, (_, i) => column(`column${i}`, 'Int'));
  const many = model({ tables: Array.from({ length: 1000 }, (_, i) => table(`${i + 1}`, `Table${i}`, columns)) });
  const start = process.cpuUsage();
  const schema = buildSchema(many);
  const document = parse('{ table7Collection(filter: {column3: {eq: 1}}) { edges { node { column3 } } } }');
  expect(validateDocument(schema, document, { strictVariablePositions: false, suggestions: false })).toEqual([]);
  // It takes a few dozen milliseconds; the limit only notices a return to making everything at once.
  expect(process.cpuUsage(start).user / 1000).toBeLessThan(10_000);
});
