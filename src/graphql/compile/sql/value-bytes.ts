/**
 * How many bytes values take as JSON, as far as their types tell.
 */
import type { ResultColumn, SqlType, ValueType } from '../../model/model.ts';
import { scalarRow } from '../../model/scalars.ts';
import { isJsonValue } from '../../model/tables/columns.ts';
import type { ValuePlan } from '../plan/plan.ts';
import { keyColumns } from '../plan/plan-order.ts';

/** Longer ones have no bound: short texts are rarely as long as they may be. */
const maxBound = 500;

/** So many values without a bound are made before they are measured and the next are made (object.ts). */
export const madeAtOnce = 8;

/** Most bytes of a value's JSON; null: no bound. */
export function maxBytesOf(type: ValueType | null): number | null {
  switch (type?.kind) {
    case 'scalar':
      return scalarRow(type.scalar).maxBytes ?? boundOf(type.cast, type.scalar === 'BigFloat');
    case 'enum':
      // 63 bytes, each with an escape, and quotes.
      return 128;
    default:
      return null;
  }
}

function boundOf({ maxLength, modifier }: SqlType, isNumeric: boolean): number | null {
  const most = isNumeric && modifier !== null ? digitsOf(modifier) : maxLength === null ? null : 6 * maxLength + 2;
  return most !== null && most <= maxBound ? most : null;
}

/** Of `numeric(8,2)`; the scale may be negative, or larger than the precision. */
function digitsOf(modifier: string): number {
  const [precision = 0, scale = 0] = modifier.split(',').map(Number);
  return Math.max(precision, precision - scale, scale) + 5;
}

/** Most bytes of what a value adds to the JSON of its object; null: no bound. Objects within it are bounded themselves. */
export function maxBytesIn(value: ValuePlan): number | null {
  switch (value.kind) {
    case 'typename':
      return value.name.length + 2;
    case 'column':
      return value.at === null ? maxBytesOf(value.column.type) : null;
    case 'call': {
      const { result } = value.call.routine;
      if (result.kind === 'void') return 2;
      return result.kind === 'value' && value.at === null ? maxBytesOf(result.type) : null;
    }
    case 'rank':
      return scalarRow('Float').maxBytes;
    case 'node_id':
      return encodedBytes(keyColumns(value.table).map(({ type }) => type));
    default:
      return 4;
  }
}

// Of the Base64 text of a list of such values.
function encodedBytes(types: readonly (ValueType | null)[]): number | null {
  const sizes = types.map(maxBytesOf);
  const sum = sizes.reduce<number>((total, size) => total + (size ?? 0) + 2, 130);
  return sizes.includes(null) ? null : Math.ceil(sum / 3) * 4;
}

/** Whether `printValue` makes a `text` of it. */
export function isPrintedAsText(value: ValuePlan): boolean {
  switch (value.kind) {
    case 'node_id':
      return true;
    case 'column':
      return value.at === null ? isText(value.column) || isTextual(value.column.type) : !isJsonValue(value.column.type);
    case 'call': {
      const { result } = value.call.routine;
      return result.kind === 'value' && (value.at === null ? isTextual(result.type) : !isJsonValue(result.type));
    }
    default:
      return false;
  }
}

function isTextual(type: ValueType | null): boolean {
  return type?.kind === 'scalar' && (type.scalar === 'JSON' || type.scalar === 'BigFloat');
}

/** A column whose length PostgreSQL knows without reading it. */
export function isText({ type, cast }: Pick<ResultColumn, 'type' | 'cast'>): boolean {
  const { namespace, name } = cast.base ?? cast;
  return type?.kind === 'scalar' && type.scalar === 'String' && namespace === 'pg_catalog' && textTypes.has(name);
}

const textTypes: ReadonlySet<string> = new Set(['text', 'varchar']);
