/**
 * The check of `pgreflect check` for routines that name something of an extension without its schema, which is not on
 * the path that they are run with: each call fails. It reads their texts, and runs nothing of them.
 *
 * A name counts if nothing on the path has it. Names in strings and comments do not.
 */
import { quoteName } from '../graphql/catalog/quote-name.ts';
import { loadSqlFile } from '../postgres/system/sql-file.ts';
import { type Check, type Finding, firstOf, remark } from './finding.ts';
import { findReachedRoutines } from './reached-routines.ts';

/** The row of sql/check/extension-calls.sql. */
interface Facts {
  readonly things: readonly Thing[];
  readonly homes: readonly (readonly [kind: string, name: string, schema: string])[];
  readonly routines: readonly RoutineText[];
}

interface Thing extends Readonly<Record<'name' | 'schema' | 'extension', string>> {
  readonly kind: 'function' | 'type' | 'operator';
}

interface RoutineText extends Readonly<Record<'oid' | 'name' | 'text', string>> {
  readonly path: string | null;
  readonly tables: readonly string[];
  readonly isAuth: boolean;
}

/** Routines that callers make run and that need an extension off their search path. */
export const findExtensionCalls: Check = async ({ tx, schemas, extraSchemas, roles, serviceRole }) => {
  const requestPath = [...schemas, ...extraSchemas];
  const [row] = await tx.query(loadSqlFile('check/extension-calls.sql'), []);
  const { things, homes, routines } = row as unknown as Facts;
  const ofKey = new Map(things.map((thing) => [keyOf(thing.kind, thing.name), thing]));
  const homesOf = Map.groupBy(homes, ([kind, name]) => keyOf(kind, name));
  const found = routines.flatMap((routine) => {
    const path = routine.path === null ? (routine.isAuth ? [] : requestPath) : readPath(routine.path);
    const known = new Set(['pg_catalog', ...path]);
    const missing = namesIn(routine.text).flatMap((key) => ofKey.get(key) ?? []);
    const off = missing.filter(({ kind, name }) =>
      homesOf.get(keyOf(kind, name))!.every(([, , schema]) => !known.has(schema)),
    );
    return off.length === 0 ? [] : [{ routine, path, off }];
  });
  if (found.length === 0) return [];
  const { reached } = await findReachedRoutines(tx, [...roles, serviceRole], schemas);
  const named = [...new Set(found.flatMap(({ off }) => off.map(({ schema }) => schema)))];
  const trusted = await tx.query(loadSqlFile('trusted-schemas.sql'), [named]);
  return found
    .filter(({ routine }) => reached.has(routine.oid))
    .map((one) =>
      describe(one, { requestPath, extraSchemas, trusted: new Set(trusted.map(({ name }) => String(name))) }),
    );
};

interface OffPath {
  readonly routine: RoutineText;
  readonly path: readonly string[];
  readonly off: readonly Thing[];
}

/** Schemas, by name. */
interface Paths {
  /** On the path of requests. */
  readonly requestPath: readonly string[];
  /** Of these, those that are not exposed. */
  readonly extraSchemas: readonly string[];
  /** Those that may be on a path, of those that have extensions. */
  readonly trusted: ReadonlySet<string>;
}

function describe({ routine, path, off }: OffPath, { requestPath, extraSchemas, trusted }: Paths): Finding {
  const { name, tables, isAuth } = routine;
  const [first] = off as readonly [Thing, ...Thing[]];
  const needed = [...new Set(off.map(({ schema }) => schema))];
  const whose =
    routine.path !== null ? 'its search path' : isAuth ? 'the search path of the auth service' : 'that of requests';
  const written = tables.length === 0 ? '' : ` Its triggers are on ${firstOf([...new Set(tables)])}.`;
  const about = {
    check: 'extension_off_path',
    severity: 'warning',
    object: name,
    message: `The routine ${name} names the ${first.kind} "${first.name}" of the extension "${first.extension}" without its schema "${first.schema}", which is not on ${whose}: it fails.${written}`,
  } as const;
  const open = needed.find((schema) => !trusted.has(schema));
  if (open !== undefined) {
    const advice = `Others may create objects in "${open}", so put it on no search path; write the schema in the text.`;
    return { ...about, message: `${about.message} ${advice}`, fix: null };
  }
  if (routine.path === null && !isAuth) {
    const all = [...extraSchemas, ...needed];
    // A tenant may have named the schema. What needs quotes is nothing to paste into a shell.
    const isPlain = all.every((schema) => quoteName(schema) === schema);
    return { ...about, fix: null, ...(isPlain && { command: `--extra-search-path ${all.join(',')}` }) };
  }
  const whole = isAuth && routine.path === null ? [...requestPath, ...needed] : [...path, ...needed];
  const set = `alter routine ${name} set search_path = ${[...new Set(whole)].map(quoteName).join(', ')}`;
  return { ...about, fix: remark('If only operators create objects there; or write the schema in its text:', set) };
}

function keyOf(kind: string, name: string): string {
  return `${kind} ${name}`;
}

/** The names of a setting `search_path`. */
function readPath(setting: string): readonly string[] {
  const names = setting.matchAll(/"((?:[^"]|"")*)"|[^\s,"]+/g);
  return [...names]
    .map(([word, quoted]) => quoted?.replaceAll('""', '"') ?? word.toLowerCase())
    .filter((name) => name !== '');
}

/** What a name may not be found in: strings and comments, ended or not. */
const hidden = /'[^']*'?|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g;
/** What stands before a parenthesis, after `::`, and operators. A name after a point or `into` is something else. */
const named =
  /(?<cast>::\s*)?(?<![\w$.])(?:"(?<quoted>[^"]+)"|(?<word>[\p{L}_][\p{L}\p{N}_$]*))(?<call>\s*\()?|(?<![.+\-*/<>=~!@#%^&|`?])(?<operator>[+\-*/<>=~!@#%^&|`?]+)/gu;
const notCalls: ReadonlySet<string> = new Set(['into', 'table', 'as', 'with', 'index', 'update']);

/** Keys of what a text may mean by names without a schema. Each character is looked at a few times. */
function namesIn(text: string): readonly string[] {
  const keys = new Set<string>();
  let before = '';
  for (const { groups } of text.replaceAll(hidden, ' ').matchAll(named)) {
    const { cast, quoted, word, call, operator } = groups!;
    if (operator !== undefined) keys.add(keyOf('operator', operator));
    const name = quoted ?? word?.toLowerCase();
    if (name !== undefined && call !== undefined && !notCalls.has(before)) keys.add(keyOf('function', name));
    if (name !== undefined && cast !== undefined) keys.add(keyOf('type', name));
    before = name ?? '';
  }
  return [...keys];
}
