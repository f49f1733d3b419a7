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

/** What the JSON of an object takes: bytes of its keys, and an integer for each value that is measured, null for null. */
export interface ObjectSize {
  readonly fixed: number;
  readonly values: readonly Sql[];
}

/** The value, unless the object is too long. It stands once: PostgreSQL would plan what is in it twice at each level. */
export function printBounded(longObjects: LongObjects, size: ObjectSize, value: Sql): Sql {
  return longObjects === 'end' ? printEnd(size, value) : printCount(size, longObjects === 'count', value);
}

// Measured: comparing each value costs less than their sum.
function printEnd({ values }: ObjectSize, value: Sql): Sql {
  if (values.length === 0) return value;
  const isLong = values.map((bytes) => sql`${bytes} operator(pg_catalog.>=) ${param(counted, builtin.int8)}`);
  const failure = printFailure(sentinels.longObject, sql`(${values[0]!})::pg_catalog.text`);
  return sql`case when (${join(isLong, sql` or `)}) and ${failure} is null then null else ${value} end`;
}

function printCount({ fixed, values }: ObjectSize, mayEnd: boolean, value: Sql): Sql {
  const terms = values.map((bytes) => sql`coalesce(${bytes}, 0)`);
  const bytes = sql`(${join([sql`${integerLiteral(fixed)}::pg_catalog.int8`, ...terms], sql` operator(pg_catalog.+) `)})`;
  const isShort = sql`${bytes} operator(pg_catalog.<) ${param(counted, builtin.int8)}`;
  const name = param(left, builtin.text);
  const remaining = sql`pg_catalog.current_setting(${name})`;
  const difference = sql`(${remaining}::pg_catalog.int8 operator(pg_catalog.-) ${bytes})::pg_catalog.text`;
  const isLeft = sql`pg_catalog.set_config(${name}, ${difference}, true)::pg_catalog.int8 operator(pg_catalog.>=) 0`;
  if (!mayEnd) return sql`case when ${isShort} or ${isLeft} then ${value} end`;
  // Not of the bytes, which may be a constant: PostgreSQL would evaluate the failure when it plans.
  const failure = printFailure(sentinels.tooLarge, sql`pg_catalog.set_config(${name}, ${remaining}, true)`);
  return sql`case when ${isShort} or ${isLeft} or ${failure} is null then ${value} end`;
}

/** The bytes that are left, as a statement of its own. */
export const printLeft: Sql = sql`select pg_catalog.current_setting(${param(left, builtin.text)})`;
