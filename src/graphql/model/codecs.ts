/**
 * The one table of PostgreSQL types: the scalar of each type, and the results of its aggregates. A new type is a
 * new row; a new scalar needs one in scalars.ts, too.
 */
import { type ScalarName, scalarNames } from './scalars.ts';

interface Codec {
  readonly scalar: ScalarName;
  /** Results of `sum`, `avg`, and `min` and `max`; null if the type has none. */
  readonly sum: ScalarName | null;
  readonly avg: ScalarName | null;
  readonly minMax: ScalarName | null;
  /** `varchar(n)` and `char(n)`: the modifier is a length in characters (PostgreSQL manual, "Character Types"). */
  readonly lengthLimited: boolean;
}

function codec(
  scalar: ScalarName,
  minMax: ScalarName | null = null,
  sum: ScalarName | null = null,
  avg: ScalarName | null = null,
): Codec {
  return { scalar, sum, avg, minMax, lengthLimited: false };
}

const limitedText: Codec = { ...codec('String', 'String'), lengthLimited: true };

/** Types of `pg_catalog`, by the catalog's names. */
const codecs: Readonly<Record<string, Codec>> = {
  int2: codec('Int', 'Int', 'BigInt', 'BigFloat'),
  int4: codec('Int', 'Int', 'BigInt', 'BigFloat'),
  int8: codec('BigInt', 'BigInt', 'BigInt', 'BigFloat'),
  float4: codec('Float', 'BigFloat', 'BigFloat', 'BigFloat'),
  float8: codec('Float', 'BigFloat', 'BigFloat', 'BigFloat'),
  numeric: codec('BigFloat', 'BigFloat', 'BigFloat', 'BigFloat'),
  money: codec('Opaque', 'Opaque', 'BigFloat', 'BigFloat'),
  bool: codec('Boolean', 'Boolean'),
  text: codec('String', 'String'),
  varchar: limitedText,
  bpchar: limitedText,
  char: codec('String', 'String'),
  name: codec('Opaque', 'String'),
  uuid: codec('UUID'),
  date: codec('Date', 'Date'),
  time: codec('Time', 'Time'),
  timetz: codec('Opaque', 'Time'),
  timestamp: codec('Datetime', 'Datetime'),
  timestamptz: codec('Datetime', 'Datetime'),
  json: codec('JSON'),
  jsonb: codec('JSON'),
};

const citext = codec('String', 'String');
const opaque = codec('Opaque');

/** The codec of a type that is not an enum, array or composite. `citext` is recognized by name, in any schema. */
export function codecOf(namespace: string, name: string): Codec {
  if (name === 'citext') return citext;
  return (namespace === 'pg_catalog' && Object.hasOwn(codecs, name) ? codecs[name] : undefined) ?? opaque;
}

/** Results of pg_graphql's aggregates over columns. The functions of a column with the same results share a type. */
export const aggregateResults = ['sum', 'avg', 'min', 'max'] as const;

interface AggregateRow {
  /** `bool`: of columns of type `boolean`, to which others do not add. */
  readonly results: (typeof aggregateResults)[number] | 'bool';
  /** Whether the extension `reads` adds it. */
  readonly added: boolean;
  /** Where descriptions are on, of each column. */
  readonly description: string;
}

const aggregates = {
  sum: { results: 'sum', added: false, description: 'Sum' },
  avg: { results: 'avg', added: false, description: 'Average' },
  min: { results: 'min', added: false, description: 'Least' },
  max: { results: 'max', added: false, description: 'Greatest' },
  stddev: { results: 'avg', added: true, description: 'Standard deviation of the sample' },
  variance: { results: 'avg', added: true, description: 'Variance of the sample' },
  boolAnd: { results: 'bool', added: true, description: 'Whether all values are true' },
  boolOr: { results: 'bool', added: true, description: 'Whether one value is true' },
} as const satisfies Readonly<Record<string, AggregateRow>>;

/** An aggregate over a column. */
export type AggregateFunction = keyof typeof aggregates;

/** All of them, in the order in which a schema shows them. */
export const aggregateFunctions = Object.keys(aggregates) as readonly AggregateFunction[];

/** What code knows of an aggregate. */
export function aggregateRow(fn: AggregateFunction): AggregateRow {
  return aggregates[fn];
}

/** Names of our own schema types, which tables and enums may not have. */
export const builtInTypeNames: ReadonlySet<string> = new Set([
  ...['Query', 'Mutation', 'Node', 'PageInfo', 'FilterIs', 'OrderByDirection', 'Subscription'],
  ...scalarNames.flatMap((scalar) => [scalar, `${scalar}Filter`, `${scalar}ListFilter`]),
]);
