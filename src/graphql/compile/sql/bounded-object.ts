/**
 * Bounds the memory that PostgreSQL takes for JSON objects within an answer: it makes them before the gateway can measure.
 *
 * Values of fewer bytes than a parameter are made at once; all that the operation can have take together less than the limit
 * of an answer then. The first longer one ends the statement. The gateway prints the operation again, and from
 * then on longer objects are subtracted from what the transaction may still make. Not from the start, because PostgreSQL
 * runs no statement that may change a setting in parallel.
 */
import type { Slot } from '../input/slot.ts';
import { printFailure, sentinels } from './failure-sentinels.ts';
import { builtin, integerLiteral, join, param, type Sql, sql } from './sql.ts';

/**
 * What becomes of an object that is not short: the statement ends; or its bytes are counted, and the statement ends, or the
 * object is left out, where they are too many.
 */
export type LongObjects = 'end' | 'count' | 'count_and_drop';

const counted: Slot = { kind: 'counted_bytes' };
const left: Slot = { kind: 'bytes_left' };

/** What the JSON of an object takes: bytes of its keys, and its values that are measured. */
export interface ObjectSize {
  readonly fixed: number;
  readonly values: readonly MeasuredValue[];
}

/** A value that is cheap to repeat: JSON, or what becomes a string of it or what is JSON as it is. */
export interface MeasuredValue {
  readonly value: Sql;
  readonly kind: 'json' | 'text' | 'short';
  /** How many keys show it. */
  readonly count: number;
}

/** Bytes of JSON for a byte of text, at most: `\u0001`. */
const maxEscape = 6;

/** The value, unless the object is too long. It stands once: PostgreSQL would plan what is in it twice at each level. */
export function printBounded(longObjects: LongObjects, size: ObjectSize, value: Sql): Sql {
  return longObjects === 'end' ? printEnd(size, value) : printCount(size, longObjects === 'count', value);
}

// Measured: comparing each value costs less than their sum.
function printEnd({ values }: ObjectSize, value: Sql): Sql {
  if (values.length === 0) return value;
  const failure = printFailure(sentinels.longObject, sql`(${printBytes(values[0]!)})::pg_catalog.text`);
  return sql`case when (${join(values.map(printIsLong), sql` or `)}) and ${failure} is null then null else ${value} end`;
}

// The JSON of a text is only made where escapes may decide.
function printIsLong(measured: MeasuredValue): Sql {
  const limit = param(counted, builtin.int8);
  const isLong = sql`${printBytes(measured)} operator(pg_catalog.>=) ${limit}`;
  if (measured.kind !== 'text') return isLong;
  const mayBe = sql`${printBytes(measured)} operator(pg_catalog.>=) (${limit} operator(pg_catalog./) ${integerLiteral(maxEscape)})`;
  return sql`(${mayBe} and (${isLong} or ${printJsonBytes(measured)} operator(pg_catalog.>=) ${limit}))`;
}

function printCount(size: ObjectSize, mayEnd: boolean, value: Sql): Sql {
  const name = param(left, builtin.text);
  const remaining = sql`pg_catalog.current_setting(${name})`;
  const isShort = sql`${printSum(size, printMostBytes)} operator(pg_catalog.<) ${param(counted, builtin.int8)}`;
  const least = printSum(size, printBytes);
  const hasText = size.values.some(({ kind }) => kind === 'text');
  const bytes = hasText
    ? sql`case when ${least} operator(pg_catalog.<) ${remaining}::pg_catalog.int8 then ${printSum(size, printJsonBytes)} else ${least} end`
    : least;
  const difference = sql`(${remaining}::pg_catalog.int8 operator(pg_catalog.-) ${bytes})::pg_catalog.text`;
  const isLeft = sql`pg_catalog.set_config(${name}, ${difference}, true)::pg_catalog.int8 operator(pg_catalog.>=) 0`;
  if (!mayEnd) return sql`case when ${isShort} or ${isLeft} then ${value} end`;
  // Not of the bytes, which may be a constant: PostgreSQL would evaluate the failure when it plans.
  const failure = printFailure(sentinels.tooLarge, sql`pg_catalog.set_config(${name}, ${remaining}, true)`);
  return sql`case when ${isShort} or ${isLeft} or ${failure} is null then ${value} end`;
}

function printSum({ fixed, values }: ObjectSize, print: (value: MeasuredValue) => Sql): Sql {
  const terms = values.map((measured) => {
    const bytes = print(measured);
    if (measured.count === 1) return sql`coalesce(${bytes}, 0)`;
    return sql`coalesce(${bytes}::pg_catalog.int8 operator(pg_catalog.*) ${integerLiteral(measured.count)}, 0)`;
  });
  return sql`(${join([sql`${integerLiteral(fixed)}::pg_catalog.int8`, ...terms], sql` operator(pg_catalog.+) `)})`;
}

// Without escapes; of JSON, without the four bytes of its header.
function printBytes({ value, kind }: MeasuredValue): Sql {
  return kind === 'json'
    ? sql`(pg_catalog.pg_column_size(${value}) operator(pg_catalog.-) 4)`
    : sql`pg_catalog.octet_length(${value})`;
}

function printMostBytes(measured: MeasuredValue): Sql {
  const bytes = printBytes(measured);
  if (measured.kind !== 'text') return bytes;
  return sql`(${bytes}::pg_catalog.int8 operator(pg_catalog.*) ${integerLiteral(maxEscape)} operator(pg_catalog.+) 2)`;
}

function printJsonBytes(measured: MeasuredValue): Sql {
  if (measured.kind !== 'text') return printBytes(measured);
  return printBytes({ ...measured, kind: 'json', value: sql`pg_catalog.to_json(${measured.value})` });
}

/** The bytes that are left, as a statement of its own. */
export const printLeft: Sql = sql`select pg_catalog.current_setting(${param(left, builtin.text)})`;
