/**
 * Finds the claims and request headers that an expression or the text of a routine reads. Text in, names out.
 *
 * What it follows: `current_setting('request.jwt.claims')`, a routine that returns all of them (`auth.jwt()`), one that
 * takes the name of a claim (`claim('org')`), the operators of JSON behind these, aliases and variables.
 */

/** Where values of the caller come from. */
export type Source = 'claims' | 'headers';

/** What a text reads of one source. */
interface Reads {
  readonly names: ReadonlySet<string>;
  /** `all`: passes all values on. `named`: the name is an argument. */
  readonly passes: 'all' | 'named' | null;
}

/** What a routine hands on. */
export interface PassingRoutine {
  readonly source: Source;
  readonly passes: 'all' | 'named';
}

/** By name, in lower case, without its schema. */
export type PassingRoutines = ReadonlyMap<string, PassingRoutine>;

const ofSetting: Readonly<Record<string, Source>> = { 'request.jwt.claims': 'claims', 'request.headers': 'headers' };

const call = /(?<![\w$".])(?:(?:"[^"]+"|[\w$]+)\s*\.\s*)?("[^"]+"|[a-z_][\w$]*)\s*\(/gi;
/** A part that changes nothing: the end of a group, a cast, a default. */
const closing =
  /^(?:\s+|\)|::\s*[\w."]+(?:\[\])?|as\s+(?:jsonb?|text)\s*(?=\))|,\s*'(?:|\{\}|null)'(?:::\w+)?(?=[\s)]))+/i;
const alias = /^as\s+("[^"]+"|[a-z_][\w$]*)/i;
/** How one value is taken. */
const accesses = [
  /^->>?\s*(?:\(\s*)?'((?:[^']|'')+)'/, // the operators
  /^#>>?\s*(?:\(\s*)?(?:ARRAY\s*\[\s*'|'\{\s*"?)([^'",}]+)/i, // a path
  /^\[\s*'((?:[^']|'')+)'/, // a subscript
  /^\?\s*'((?:[^']|'')+)'/, // whether it is there
  /^@>\s*'\{\s*"([^"]+)"/, // what it contains
  /^,\s*(?:VARIADIC\s+ARRAY\s*\[\s*)?'((?:[^']|'')+)'/i, // an argument of json_extract_path and so on
];
const dynamic = /^(?:->>?|#>>?|,)\s*[\w$"(]/;

/** What a text reads of a source. @param routines What they hand on. */
export function readsOf(sql: string, source: Source, routines: PassingRoutines): Reads {
  const text = withoutComments(sql);
  const names = new Set<string>();
  let passes: Reads['passes'] = null;
  const take = (rest: string, index: number) => {
    const end = closing.exec(rest)?.[0].length ?? 0;
    const behind = rest.slice(end);
    const name = nameIn(behind);
    if (name !== null) {
      names.add(name);
      return;
    }
    const held = dynamic.test(behind) ? [] : takenThrough(text, index, behind);
    for (const each of held) names.add(each);
    if (held.length === 0) passes = dynamic.test(behind) ? 'named' : (passes ?? 'all');
  };
  for (const match of text.matchAll(call)) {
    const [start, name] = [match.index + match[0].length, unquoted(match[1]!)];
    const end = endOfCall(text, start);
    const first = /^\s*'((?:[^']|'')*)'/.exec(text.slice(start, end))?.[1] ?? null;
    if (name === 'current_setting') {
      if (first !== null && ofSetting[first] === source) take(text.slice(end), match.index);
      continue;
    }
    const passing = routines.get(name);
    if (passing?.source !== source) continue;
    if (passing.passes === 'all') take(text.slice(end), match.index);
    else if (first !== null) names.add(first);
  }
  return { names, passes };
}

/** The name that the first access takes. */
function nameIn(text: string): string | null {
  for (const access of accesses) {
    const name = access.exec(text)?.[1];
    if (name !== undefined) return name.replaceAll("''", "'");
  }
  return null;
}

/** The names that are taken of a variable or an alias that holds what is read at a place. */
function takenThrough(text: string, index: number, behind: string): readonly string[] {
  const statement = text.slice(text.lastIndexOf(';', index) + 1, index);
  const rest = text.slice(index).split(';', 1)[0]!;
  const holder =
    alias.exec(behind)?.[1] ??
    /(?<![\w$])([a-z_][\w$]*)(?:\s+(?:constant\s+)?[\w.]+)?\s*:=[^:;]*$/i.exec(statement)?.[1] ??
    /\binto\s+(?:strict\s+)?([a-z_][\w$]*)/i.exec(rest)?.[1];
  if (holder === undefined) return [];
  const names: string[] = [];
  for (const { index: at } of text.matchAll(new RegExp(`(?<![\\w$"])${RegExp.escape(holder)}(?![\\w$])`, 'gi'))) {
    const after = text.slice(at + holder.length);
    const name = nameIn(after.slice(closing.exec(after)?.[0].length ?? 0));
    if (name !== null) names.push(name);
  }
  return names;
}

/** Where the call ends whose arguments begin at a place. */
function endOfCall(text: string, start: number): number {
  let depth = 1;
  for (const { 0: token, index } of text.slice(start).matchAll(/'(?:[^']|'')*'|"(?:[^"]|"")*"|[()]/g)) {
    if (token === '(') depth += 1;
    else if (token === ')') depth -= 1;
    if (depth === 0) return start + index + 1;
  }
  return text.length;
}

function unquoted(name: string): string {
  return name.startsWith('"') ? name.slice(1, -1).toLowerCase() : name.toLowerCase();
}

function withoutComments(sql: string): string {
  return sql.replace(
    /('(?:[^']|'')*')|--[^\n]*|\/\*(?:[\s\S]*?\*\/|[\s\S]*)/g,
    (_all, string: string | undefined) => string ?? ' ',
  );
}
