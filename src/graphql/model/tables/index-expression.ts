/**
 * Reads expressions and conditions of indexes as PostgreSQL prints them (`pg_get_expr`), and qualifies their names.
 *
 * They were printed with a search path of `pg_catalog`, and are parsed again with the path of a request: a bare name
 * could then mean an object that a user put into an exposed schema. Uncertain expressions are not read.
 */
import type { IndexExpression, IndexToken, IndexWord } from '../index-tokens.ts';

/** Longest expression that is read, in characters: the stack of a regular expression ends at some millions. */
const maxLength = 100_000;

/** The tokens; null if it is very long or has names that cannot be qualified. @param columns Numbers by name. */
export function readIndexExpression(text: string, columns: ReadonlyMap<string, number>): IndexExpression | null {
  if (text.length > maxLength) return null;
  const tokens: IndexToken[] = [];
  let rest = text.trim();
  while (rest !== '') {
    const match = token.exec(rest);
    if (match === null) return null;
    rest = rest.slice(match[0].length).trimStart();
    const read = readToken(match.groups!, { columns, isCall: rest.startsWith('(') });
    if (read === null) return null;
    tokens.push(...read);
  }
  return tokens.length === 0 ? null : tokens;
}

const name = '(?:[a-z_\\u0080-\\uffff][a-z0-9_$\\u0080-\\uffff]*|"(?:[^"]|"")+")';
const operator = '[-+*/<>=~!@#%^&|`?]+';
/** Types whose display name is more than one word. */
const longTypes =
  'character varying|double precision|bit varying|timestamp with(?:out)? time zone|time with(?:out)? time zone';
const token = new RegExp(
  [
    `^(?:'(?<text>(?:[^']|'')*)'`,
    `(?<number>\\d+)(?![.\\d\\w])`,
    `::(?<type>${longTypes}|(?:${name}\\.)?${name})(?<array>\\[\\])?`,
    `OPERATOR\\((?<operatorSchema>${name})\\.(?<ownOperator>${operator})\\)`,
    `(?<operator>${operator})`,
    `(?<word>[A-Z]+(?![a-z0-9_])|[()[\\],])`,
    `(?:(?<schema>${name})\\.)?(?<name>${name}))`,
  ].join('|'),
  'u',
);

const words: ReadonlySet<string> = new Set<IndexWord>([
  'AND', 'OR', 'NOT', 'IS', 'NULL', 'TRUE', 'FALSE', 'UNKNOWN', 'ANY', 'ALL', 'ARRAY', 'COALESCE', 'GREATEST', 'LEAST',
  'AT', 'TIME', 'ZONE', '(', ')', '[', ']', ',',
]); // biome-ignore format: a list of words

type Groups = Readonly<Record<string, string | undefined>>;

interface Around {
  readonly columns: ReadonlyMap<string, number>;
  /** A bracket follows. */
  readonly isCall: boolean;
}

function readToken(groups: Groups, around: Around): readonly IndexToken[] | null {
  const { text, number, type, word } = groups;
  if (text !== undefined) return [{ kind: 'text', text: text.replaceAll("''", "'") }];
  if (number !== undefined)
    return Number.isSafeInteger(Number(number)) ? [{ kind: 'number', value: Number(number) }] : null;
  if (type !== undefined) return readCast(type, groups.array !== undefined);
  if (word !== undefined) return words.has(word) ? [{ kind: 'word', word: word as IndexWord }] : null;
  if (groups.ownOperator !== undefined) {
    return [{ kind: 'operator', namespace: unquote(groups.operatorSchema!), name: groups.ownOperator }];
  }
  // The arrow of a named argument is none.
  if (groups.operator !== undefined) {
    return groups.operator === '=>' ? null : [{ kind: 'operator', namespace: 'pg_catalog', name: groups.operator }];
  }
  return readName(groups, around);
}

function readName({ schema, name }: Groups, { columns, isCall }: Around): readonly IndexToken[] | null {
  const own = unquote(name!);
  if (isCall)
    return [{ kind: 'function', namespace: schema === undefined ? 'pg_catalog' : unquote(schema), name: own }];
  if (schema !== undefined) return null;
  if (name === 'true' || name === 'false') return [{ kind: 'word', word: name === 'true' ? 'TRUE' : 'FALSE' }];
  const column = columns.get(own);
  return column === undefined ? null : [{ kind: 'column', number: column }];
}

/** Names of types by the display names that differ from them. */
const typeNames: Readonly<Record<string, string>> = {
  integer: 'int4',
  bigint: 'int8',
  smallint: 'int2',
  boolean: 'bool',
  real: 'float4',
  'double precision': 'float8',
  character: 'bpchar',
  'character varying': 'varchar',
  'bit varying': 'varbit',
  'timestamp without time zone': 'timestamp',
  'timestamp with time zone': 'timestamptz',
  'time without time zone': 'time',
  'time with time zone': 'timetz',
};

function readCast(type: string, isArray: boolean): readonly IndexToken[] {
  const [, schema, own] = new RegExp(`^(${name})\\.(${name})$`, 'u').exec(type) ?? [];
  const cast: IndexToken =
    schema === undefined
      ? { kind: 'cast', namespace: 'pg_catalog', name: typeNames[type] ?? unquote(type) }
      : { kind: 'cast', namespace: unquote(schema), name: unquote(own!) };
  const brackets = ['[', ']'] as const;
  return isArray ? [cast, ...brackets.map((word) => ({ kind: 'word', word }) as const)] : [cast];
}

function unquote(text: string): string {
  return text.startsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text;
}
