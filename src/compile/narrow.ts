/**
 * Which types have values that never take much room in an answer.
 */
import type { SqlType, ValueType } from '../model/model.ts';

/** Most bytes of the JSON of a value that is narrow; `numeric(1000)` is the longest. */
export const narrowBytes = 1100;
/** Most bytes of JSON for a byte of text: an escape has six. */
export const maxGrowth = 6;

const names: ReadonlySet<string> = new Set([
  'int2', 'int4', 'int8', 'float4', 'float8', 'bool', 'uuid', 'date', 'time', 'timestamp', 'timestamptz', 'char',
]); // biome-ignore format: a table of names

/** Whether every value of the declared type is narrow. */
export function isNarrow({ cast, type }: { readonly cast: SqlType; readonly type: ValueType | null }): boolean {
  if (type?.kind === 'enum') return true;
  if (cast.namespace !== 'pg_catalog' || type?.kind !== 'scalar') return false;
  if (cast.maxLength !== null) return cast.maxLength * maxGrowth <= narrowBytes;
  return names.has(cast.name) || (cast.name === 'numeric' && cast.modifier !== null);
}
