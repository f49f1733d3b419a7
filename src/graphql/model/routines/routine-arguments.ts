/** The input arguments of a routine, and the visible part of their defaults (docs/functions.md). */
import type { Catalog, CatalogRoutine } from '../../catalog/catalog.ts';
import type { EnumTypes } from '../enums.ts';
import type { ArgumentType } from '../model.ts';
import { type InputArgument, inputArguments } from './routine-signature.ts';

/** Oid of the table whose row is the first argument; null for others, such as a composite type without a table. */
export function rowArgument(catalog: Catalog, [first]: readonly InputArgument[]): string | null {
  const type = first === undefined ? undefined : catalog.type(first.type);
  return type?.typtype === 'c' && type.getAttributes().length === 0 ? (type.typrelid ?? null) : null;
}

/** Whether another routine of the same schema has the same name and row argument. */
export function sharesRow(catalog: Catalog, routine: CatalogRoutine): boolean {
  const [row] = inputArguments(routine);
  return catalog
    .routinesNamed(routine.pronamespace, routine.proname)
    .some((other) => other !== routine && inputArguments(other)[0]?.type === row?.type);
}

/**
 * The default expression of each input argument, null for none.
 *
 * The catalog has one text for all. pg_graphql splits it at each comma, and if the number of pieces differs from the
 * number of defaults, no argument gets one.
 *
 * @param isExtended Whether commas in quotes and brackets are part of a default.
 */
export function argumentDefaults(
  routine: CatalogRoutine,
  count: number,
  { isExtended }: { readonly isExtended: boolean },
): readonly (string | null)[] {
  const expected = routine.pronargdefaults ?? 0;
  const text = routine.defaults ?? '';
  const pieces = isExtended ? splitExpressions(text) : text.split(',');
  const usable = pieces.length === expected ? pieces.map((piece) => piece.trim()) : [];
  return Array.from({ length: count }, (_, index) => usable[index - (count - usable.length)] ?? null);
}

// A quote in a quoted text or name is doubled, so that each ends the text or begins it.
function splitExpressions(text: string): readonly string[] {
  const pieces: string[] = [];
  let [start, depth, quote] = [0, 0, ''];
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index]!;
    if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === "'" || character === '"') quote = character;
    else if ('([{'.includes(character)) depth += 1;
    else if (')]}'.includes(character)) depth -= 1;
    else if (character === ',' && depth === 0) {
      pieces.push(text.slice(start, index));
      start = index + 1;
    }
  }
  return [...pieces, text.slice(start)];
}

/** Longest default that is shown, in characters: the stack of a regular expression ends at some millions. */
const maxShown = 100_000;

/** The default as a GraphQL literal; null except for simple literals of a few types. */
export function displayDefault(expression: string | null, type: ArgumentType, enums: EnumTypes): string | null {
  if (expression === null || expression.length > maxShown) return null;
  if (type.kind === 'enum') return enumLiteral(expression, type.enum, enums);
  const { namespace, name } = type.cast;
  if (namespace !== 'pg_catalog') return null;
  switch (name) {
    case 'int2':
    case 'int4':
      return /^\d{1,10}$/.test(expression) && Number(expression) < 2 ** 31 ? String(Number(expression)) : null;
    case 'bool':
      return expression === 'true' || expression === 'false' ? expression : null;
    case 'float4':
    case 'float8':
      return /^\d+(?:\.\d*)?(?:[eE][+-]?\d+)?$/.test(expression) ? floatLiteral(Number(expression)) : null;
    case 'text':
      return textLiteral(expression);
    default:
      return null;
  }
}

function enumLiteral(expression: string, oid: string, enums: EnumTypes): string | null {
  const label = constantText(expression);
  return enums.get(oid)?.values.find((value) => value.label === label)?.graphqlName ?? null;
}

function floatLiteral(value: number): string | null {
  return Number.isFinite(value) ? String(value) : null;
}

function textLiteral(expression: string): string | null {
  const text = expression.endsWith('::text') ? constantText(expression) : null;
  return text === null ? null : JSON.stringify(text);
}

/** Parses `'it''s'::text`, PostgreSQL's form of a constant: backslashes are ordinary characters. */
function constantText(expression: string): string | null {
  const [, body] = /^'((?:[^']|'')*)'::[^':]+$/s.exec(expression) ?? [];
  return body?.replaceAll("''", "'") ?? null;
}
