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
import { builtin, empty, integerLiteral, join, param, type Sql, sql } from './sql.ts';

/**
 * What becomes of an object that is not short: the statement ends; or its bytes are counted, and the statement ends (`count`)
 * or the object is left out (`drop`) where they are too many. `drop_long`: objects without long values are not measured.
 */
export type LongObjects = 'end' | 'count' | 'drop' | 'drop_long';

/** Whether objects without long values are measured, too. */
export function measuresAll(longObjects: LongObjects): boolean {
  return longObjects === 'count' || longObjects === 'drop';
}

const counted: Slot = { kind: 'counted_bytes' };
const left: Slot = { kind: 'bytes_left' };

/** What the JSON of an object takes: about so many bytes, and its values that are measured. */
export interface ObjectSize {
  readonly fixed: number;
  readonly values: readonly MeasuredValue[];
}

/** A value that is cheap to repeat: JSON, or a text that becomes JSON. */
export interface MeasuredValue {
  readonly value: Sql;
  readonly kind: 'json' | 'text';
  /** How many keys show it. */
  readonly count: number;
}

/** Bytes of JSON for a byte of text, at most: `\u0001`. */
const maxEscape = integerLiteral(6);

/** With more texts, the statement would become too long. */
const maxExactTexts = 4;

/** The value, unless the object is too long. It stands once: PostgreSQL would plan what is in it twice at each level. */
export function printBounded(longObjects: LongObjects, size: ObjectSize, value: Sql): Sql {
  return longObjects === 'end' ? printEnd(size, value) : printCount(size, longObjects === 'count', value);
}

// Measured: the longest of the values costs less than their sum, and `greatest` ignores nulls.
function printEnd({ values }: ObjectSize, value: Sql): Sql {
  if (values.length === 0) return value;
  const limit = param(counted, builtin.int8);
  const atLeast = (sizes: readonly Sql[], bytes: Sql) =>
    sql`${sizes.length === 1 ? sizes[0]! : sql`greatest(${join(sizes, sql`, `)})`} operator(pg_catalog.>=) ${bytes}`;
  const texts = values.filter(({ kind }) => kind === 'text');
  const others = values.filter(({ kind }) => kind === 'json');
  const isLong: Sql[] = others.length === 0 ? [] : [atLeast(others.map(printJsonBytes), limit)];
  if (texts.length > 0) {
    const mayBe = atLeast(texts.map(printBytes), sql`(${limit} operator(pg_catalog./) ${maxEscape})`);
    const is = texts.length > maxExactTexts ? empty : sql` and ${atLeast(texts.map(printJsonBytes), limit)}`;
    isLong.push(sql`(${mayBe}${is})`);
  }
  const failure = printFailure(sentinels.longObject, sql`(${printBytes(values[0]!)})::pg_catalog.text`);
  return sql`case when (${join(isLong, sql` or `)}) and ${failure} is null then null else ${value} end`;
}

function printCount(size: ObjectSize, mayEnd: boolean, value: Sql): Sql {
  const name = param(left, builtin.text);
  const remaining = sql`pg_catalog.current_setting(${name})`;
  const least = printSum(size, printBytes);
  const isShort = sql`${least} operator(pg_catalog.<) (${param(counted, builtin.int8)} operator(pg_catalog./) ${maxEscape})`;
  const hasText = size.values.some(({ kind }) => kind === 'text');
  // The JSON of texts that are too long already is not made.
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

// JSON has a header of four bytes, which the answer does not have.
function printSum({ fixed, values }: ObjectSize, print: (value: MeasuredValue) => Sql): Sql {
  const headers = 4 * values.reduce((sum, { count }) => sum + count, 0);
  const terms = values.map((measured) => sql`coalesce(${print(measured)}, 0)`);
  const first = sql`${integerLiteral(Math.max(0, fixed - headers))}::pg_catalog.int8`;
  return sql`(${join([first, ...terms], sql` operator(pg_catalog.+) `)})`;
}

// Of a text: without escapes.
function printBytes(measured: MeasuredValue): Sql {
  if (measured.kind === 'json') return printJsonBytes(measured);
  return printTimes(sql`pg_catalog.octet_length(${measured.value})`, measured.count);
}

function printJsonBytes({ value, kind, count }: MeasuredValue): Sql {
  const json = kind === 'json' ? value : sql`pg_catalog.to_json(${value})`;
  return printTimes(sql`pg_catalog.pg_column_size(${json})`, count);
}

function printTimes(bytes: Sql, count: number): Sql {
  return count === 1 ? bytes : sql`(${bytes}::pg_catalog.int8 operator(pg_catalog.*) ${integerLiteral(count)})`;
}

/** The bytes that are left, as a statement of its own. */
export const printLeft: Sql = sql`select pg_catalog.current_setting(${param(left, builtin.text)})`;
