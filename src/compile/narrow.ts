/**
 * How much room the values of a type take in an answer, where that is little and known.
 */
import type { EnumType, Oid, SqlType, ValueType } from '../model/model.ts';
import { enumOf } from './print-output.ts';

/** Most bytes of JSON for a byte of text: an escape has six. */
export const maxGrowth = 6;
/** Most bytes of a name in PostgreSQL. */
export const identifierBytes = 63;
/** A type whose values may take more is not narrow. */
const mostBytes = 1100;

/** Of numbers and booleans as they are, and of everything else in quotes, with eras and zones. */
const bytes: Readonly<Record<string, number>> = {
  int2: 8, int4: 11, int8: 22, float4: 20, float8: 28, bool: 5, uuid: 38, char: 8,
  date: 20, time: 20, timestamp: 40, timestamptz: 50,
}; // biome-ignore format: a table of numbers

/** Most bytes of the JSON of a value of the declared type, null included; null where it is not narrow. */
export function narrowBytes(
  { cast, type }: { readonly cast: SqlType; readonly type: ValueType | null },
  enums: ReadonlyMap<Oid, EnumType>,
): number | null {
  if (type?.kind === 'enum') return nullIfWide(longestName(enumOf(enums, type.enum)) + quotes);
  if (cast.namespace !== 'pg_catalog' || type?.kind !== 'scalar') return null;
  if (cast.maxLength !== null) return nullIfWide(cast.maxLength * maxGrowth + quotes);
  if (cast.name === 'numeric' && cast.modifier !== null) return nullIfWide(mostDigits(cast.modifier) + quotes);
  return bytes[cast.name] ?? null;
}

const quotes = 4;

function nullIfWide(most: number): number | null {
  return most <= mostBytes ? most : null;
}

/** `10,2`: digits, and those behind the point; where these are fewer than none, so many zeros stand in front of it. */
function mostDigits(modifier: string): number {
  const [precision = 0, scale = 0] = modifier.split(',').map(Number);
  return precision + Math.abs(scale) + quotes;
}

/** Labels may be added while the model is in use. */
function longestName({ values }: EnumType): number {
  return Math.max(identifierBytes * maxGrowth, ...values.map(({ graphqlName }) => graphqlName?.length ?? 0));
}
