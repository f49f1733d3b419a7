/**
 * The PostgreSQL types that random tables are made of: what is expected of each, and
 * values worth trying. Written down here a second time on purpose: nothing of the product's own table is used.
 */

/** How a value is written in a document or as a variable. */
type InputKind = 'int' | 'bigint' | 'float' | 'bigfloat' | 'boolean' | 'string' | 'enum' | 'json' | 'opaque';

/** A column's type. */
export interface Type {
  /** As declared, and as values are cast: `numeric(8,2)`, `"w1"."color"`. */
  readonly sql: string;
  /** As values are compared, where that is another one. */
  readonly comparedAs?: string;
  /** The named GraphQL type; that of the elements for an array. */
  readonly graphql: string;
  readonly isList: boolean;
  readonly input: InputKind;
  /** Operators of the filter, `is` included; empty: the column has no filter. */
  readonly operators: readonly string[];
  readonly canOrder: boolean;
  /** May be part of a random primary key; equal values have equal texts. */
  readonly canBeKey: boolean;
  /** `…ByPk` exists for keys of this type. */
  readonly canByPk: boolean;
  readonly canSum: boolean;
  readonly canCompare: boolean;
  /** `varchar(n)`, `char(n)`, and arrays of them. */
  readonly maxLength: number | null;
  /** Which value the answer holds: PostgreSQL's conversion to jsonb, its text, the text of each element, or JSON's text at the root. */
  readonly output: 'jsonb' | 'text' | 'element texts' | 'root text';
  /** GraphQL name -> label and back, for enums of an exposed schema. */
  readonly labels: ReadonlyMap<string, string> | null;
  /** Texts (elements for an array) that PostgreSQL accepts. */
  readonly values: readonly string[];
  /** The type of an array's elements, where they are filtered. */
  readonly elements: Type | null;
}

const equality = ['eq', 'is'];
const some = ['eq', 'neq', 'in', 'is'];
const comparison = ['eq', 'neq', 'lt', 'lte', 'gt', 'gte', 'in', 'is'];
const pattern = [...comparison, 'startsWith', 'like', 'ilike', 'regex', 'iregex'];
const listOperators = ['contains', 'containedBy', 'overlaps', 'eq', 'is'];

const base: Type = {
  sql: '',
  graphql: 'Opaque',
  isList: false,
  input: 'opaque',
  operators: equality,
  canOrder: true,
  canBeKey: false,
  canByPk: false,
  canSum: false,
  canCompare: false,
  maxLength: null,
  output: 'jsonb',
  labels: null,
  values: [],
  elements: null,
};

const integer = {
  input: 'int',
  operators: comparison,
  canBeKey: true,
  canByPk: true,
  canSum: true,
  canCompare: true,
} as const;
const word = { graphql: 'String', input: 'string', operators: pattern, canCompare: true } as const;
const moment = { input: 'string', operators: comparison, canCompare: true, canBeKey: true } as const;
const words = [
  '',
  'a',
  'A',
  'b',
  'ab',
  'Ab',
  '%',
  '_x',
  'a%b',
  'é',
  'ß',
  '日本',
  '😀',
  'a"b',
  "it's",
  'a\\b',
  'null',
  'x.y',
  '(z)',
];
const uuids = [
  '00000000-0000-0000-0000-000000000000',
  'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  '6f1c1f8e-2f6b-4c1a-9a55-0d7e8d3b1c22',
  '6f1c1f8e-2f6b-4c1a-9a55-0d7e8d3b1c23',
];
const days = ['2024-05-01', '2024-05-02', '1999-12-31', '0001-01-01', '2024-02-29', '9999-12-31'];
const times = ['00:00', '07:45', '10:00:00.5', '23:59:59.999999', '12:00:00'];
const stamps = [
  '2024-05-01 10:00:00',
  '2024-05-01 10:00:00.12',
  '1970-01-01',
  '2024-02-29 23:59:59.999999',
  '2038-01-19 03:14:08',
];
const numbers = ['0', '1', '-1', '2', '3', '7', '12', '100'];
const exactFloats = ['0', '0.5', '-0.5', '1.25', '2', '-3.75', '1024', '100000'];

/** Every type of a single value that can be declared without further objects. */
export const scalarTypes: readonly Type[] = [
  { ...base, ...integer, sql: 'smallint', graphql: 'Int', values: [...numbers, '32767', '-32768'] },
  { ...base, ...integer, sql: 'integer', graphql: 'Int', values: [...numbers, '2147483647', '-2147483648'] },
  {
    ...base,
    ...integer,
    sql: 'bigint',
    graphql: 'BigInt',
    input: 'bigint',
    output: 'text',
    values: [...numbers, '9007199254740993', '9223372036854775807', '-9223372036854775808'],
  },
  {
    ...base,
    sql: 'real',
    graphql: 'Float',
    input: 'float',
    operators: comparison,
    canSum: true,
    canCompare: true,
    values: exactFloats,
  },
  {
    ...base,
    sql: 'double precision',
    graphql: 'Float',
    input: 'float',
    operators: comparison,
    canSum: true,
    canCompare: true,
    values: exactFloats,
  },
  {
    ...base,
    sql: 'numeric(8,2)',
    graphql: 'BigFloat',
    input: 'bigfloat',
    operators: comparison,
    canBeKey: true,
    canSum: true,
    canCompare: true,
    output: 'text',
    values: ['0', '0.5', '12.50', '12.504', '-1', '999999.99', '3'],
  },
  {
    ...base,
    sql: 'numeric',
    graphql: 'BigFloat',
    input: 'bigfloat',
    operators: comparison,
    canSum: true,
    canCompare: true,
    output: 'text',
    values: ['0', '1.0', '1.00', '123456789012345678901234567890.10', '-0.000000001', '12.5', '1e20'],
  },
  { ...base, sql: 'boolean', graphql: 'Boolean', input: 'boolean', canCompare: true, values: ['true', 'false'] },
  {
    ...base,
    ...word,
    sql: 'text',
    canBeKey: true,
    canByPk: true,
    values: [...words, 'a much longer text, with blanks  '],
  },
  { ...base, ...word, sql: 'character varying', canBeKey: true, values: words },
  { ...base, ...word, sql: 'character varying(5)', canBeKey: true, maxLength: 5, values: words },
  { ...base, ...word, sql: 'character(3)', canBeKey: true, maxLength: 3, values: ['a', 'ab', 'abc', 'A', 'é', 'x y'] },
  {
    ...base,
    sql: 'uuid',
    graphql: 'UUID',
    input: 'string',
    operators: some,
    canBeKey: true,
    canByPk: true,
    values: uuids,
  },
  { ...base, ...moment, sql: 'date', graphql: 'Date', values: [...days, 'infinity'] },
  { ...base, ...moment, sql: 'time', graphql: 'Time', values: times },
  { ...base, ...moment, sql: 'timestamp', graphql: 'Datetime', values: [...stamps, '-infinity'] },
  { ...base, ...moment, sql: 'timestamp(0)', graphql: 'Datetime', values: stamps },
  { ...base, ...moment, sql: 'timestamptz', graphql: 'Datetime', values: stamps.map((stamp) => `${stamp}+02`) },
  {
    ...base,
    sql: 'json',
    graphql: 'JSON',
    input: 'string',
    operators: [],
    canOrder: false,
    output: 'root text',
    values: ['{"page":  3}', '[1, "é"]', '"late"', 'null', '5', 'true', '12345678901234567890.5'],
  },
  {
    ...base,
    sql: 'jsonb',
    graphql: 'JSON',
    input: 'string',
    operators: [],
    canOrder: false,
    output: 'root text',
    values: [
      ...['{"page":3,"a":[null]}', '{"page":3.0,"a":{"b":[1,{"c":true}]}}', '{"page":"x","a":"5","b":null}'],
      ...['[1,[2,"a"],{"page":5}]', '["a","page"]', '[]', '{}', '"la\\"te"', '"a"', 'null', '5.10', 'false'],
    ],
  },
  { ...base, sql: 'interval', values: ['1 day 2 hours', '00:00:01', '-3 mons', '0'] },
  { ...base, sql: 'bytea', values: ['\\xdeadbeef', '\\x', '\\x00ff'] },
  { ...base, sql: 'timetz', values: ['10:00+05', '23:59:59-03', '10:00:00.5+00'] },
  {
    ...base,
    sql: 'tsvector',
    values: [
      `'tea':1`,
      `'tea':1 'jam':2`,
      `'jam':1,4 'milk':2,3`,
      `'Tea':1A 'cup':2`,
      `'cup':1 'jam':2B 'milk':3 'tea':4`,
    ],
  },
  { ...base, sql: 'inet', values: ['192.168.0.1', '10.0.0.0/8', '::1'] },
  { ...base, sql: 'int4range', values: ['[1,5)', 'empty', '(,3]'] },
  { ...base, sql: 'point', operators: ['is'], canOrder: false, values: ['(1,2)', '(0.5,-1)'] },
  { ...base, sql: 'bit(3)', values: ['101', '000'] },
  { ...base, sql: 'oid', values: ['0', '5', '4294967295'] },
  { ...base, sql: 'macaddr', values: ['08:00:2b:01:02:03', 'ff:ff:ff:ff:ff:ff'] },
];

const numeric = scalarTypes.find(({ sql }) => sql === 'numeric') as Type;

/** Arrays of types; `listOf` makes the rest. */
export const arrayTypes: readonly Type[] = [
  ...[
    'smallint',
    'integer',
    'bigint',
    'real',
    'numeric',
    'boolean',
    'text',
    'character varying(5)',
    'uuid',
    'date',
    'time',
    'timestamp',
    'timestamptz',
  ]
    .map((sql) => scalarTypes.find((type) => type.sql === sql) as Type)
    .map((type) => listOf(type, true)),
  ...['jsonb', 'interval', 'inet'].map((sql) => listOf(scalarTypes.find((type) => type.sql === sql) as Type, false)),
];

/** The functions of aggregates. */
export const aggregateFunctions = ['sum', 'avg', 'min', 'max', 'stddev', 'variance', 'boolAnd', 'boolOr'] as const;

/** One of them. */
export type AggregateFunction = (typeof aggregateFunctions)[number];

/** What the type of a function's results is named after. */
export function resultsOf(name: AggregateFunction): string {
  if (name === 'boolAnd' || name === 'boolOr') return 'Bool';
  return name === 'stddev' || name === 'variance' ? 'Avg' : `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
}

/** The type of a number of rows. */
export const countType: Type = scalarTypes.find(({ sql }) => sql === 'bigint')!;

/** The type of a rank. */
export const rankType: Type = scalarTypes.find(({ sql }) => sql === 'real')!;

/** The type of what is computed of a column's values, as filters of related rows compare it. */
export function computedType(type: Type, name: AggregateFunction): Type {
  // All functions of a column take the scalar of its sum.
  const isWhole = ['Int', 'BigInt'].includes(type.graphql);
  const whole = isWhole && ({ graphql: 'BigInt', input: 'bigint' } as const);
  const fraction = type.graphql === 'Float' && ({ graphql: 'BigFloat', input: 'bigfloat' } as const);
  if (!['Sum', 'Avg'].includes(resultsOf(name))) return { ...type, ...whole, ...fraction, maxLength: null };
  return { ...numeric, ...whole, values: type.values };
}

/** The type where JSON travels as values. */
export function asJsonValue(type: Type): Type {
  return type.graphql === 'JSON' ? { ...type, input: 'json', output: 'jsonb' } : type;
}

/** The array type over a scalar type. */
export function listOf(element: Type, hasFilter: boolean): Type {
  return {
    ...element,
    sql: `${element.sql}[]`,
    isList: true,
    operators: hasFilter ? listOperators : [],
    canOrder: false,
    canBeKey: false,
    canByPk: false,
    canSum: false,
    canCompare: false,
    output: element.output === 'text' || element.output === 'root text' ? 'element texts' : 'jsonb',
    elements: hasFilter ? element : null,
  };
}

/** An enum type of an exposed schema; the mapping goes from label to GraphQL value. */
export function enumType(
  sql: string,
  graphql: string,
  labels: readonly string[],
  mapping: ReadonlyMap<string, string>,
): Type {
  return {
    ...base,
    sql,
    graphql,
    input: 'enum',
    operators: some,
    canBeKey: true,
    labels: new Map(labels.map((label) => [label, mapping.get(label) ?? label])),
    values: labels,
  };
}

/** A domain that travels as what it stands on; a value that it refuses can be looked for. */
export function domainType(sql: string, over: string, values: readonly string[]): Type {
  const base = scalarTypes.find((type) => type.sql === over) as Type;
  return { ...base, sql, comparedAs: over, canBeKey: false, canByPk: false, values };
}

/** A type that the API shows as `Opaque`: a domain, or an enum of a schema that is not exposed. */
export function opaqueType(sql: string, values: readonly string[]): Type {
  return { ...base, sql, values };
}
