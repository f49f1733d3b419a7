/**
 * Tells which routines a caller of the API may make run, directly or through policies, views, defaults, triggers, other
 * routines and so on. It errs on the side of reaching: a name in the text of a routine that is reached counts as a call,
 * in whatever schema.
 */
import type { Queryable } from '../postgres/system/queryable.ts';
import { loadSqlFile } from '../postgres/system/sql-file.ts';

/** The row of sql/check/reach.sql. */
interface Facts {
  readonly entries: readonly string[];
  readonly routines: readonly RoutineFacts[];
  readonly relations: readonly { readonly node: string; readonly name: string }[];
  readonly edges: readonly (readonly [user: string, used: string])[];
}

interface RoutineFacts extends Readonly<Record<'node' | 'oid' | 'name' | 'path' | 'language' | 'text', string>> {
  readonly definer: boolean;
}

/** What callers may make run. */
export interface ReachedRoutines {
  /** Oids. */
  readonly reached: ReadonlySet<string>;
  /** Of these, those that put the text of statements together, with other rights than the caller's. With signature. */
  readonly assembling: readonly string[];
}

/** @param roles Names of the API roles. @param schemas Names of the exposed schemas. */
export async function findReachedRoutines(
  tx: Queryable,
  roles: readonly string[],
  schemas: readonly string[],
): Promise<ReachedRoutines> {
  const [row] = await tx.query(loadSqlFile('check/reach.sql'), [roles, schemas]);
  const { entries, routines, relations, edges } = row as unknown as Facts;
  const used = Map.groupBy(edges, ([user]) => user);
  const ofNode = new Map(routines.map((routine) => [routine.node, routine]));
  const namedBy = nameFinder([...routines, ...relations]);
  const reached = new Set(entries);
  const throughOthers = new Set<string>();
  // A set is iterated over what is added meanwhile, too.
  for (const node of reached) {
    const text = ofNode.get(node)?.text ?? '';
    for (const next of [...(used.get(node) ?? []).map(([, other]) => other), ...namedBy(text)]) {
      if (next !== node) throughOthers.add(next);
      reached.add(next);
    }
  }
  const isAssembling = (routine: RoutineFacts) =>
    reached.has(routine.node) && (routine.definer || throughOthers.has(routine.node)) && assembles(routine);
  return {
    reached: new Set(routines.filter(({ node }) => reached.has(node)).map(({ oid }) => oid)),
    assembling: routines.filter(isAssembling).map(({ path }) => path),
  };
}

/** Without dollar signs: those of a string in `$$` may stand next to a name. */
const word = /[\p{L}_][\p{L}\p{N}_]*/gu;
/** PostgreSQL cuts longer names in a text, at 63 bytes. */
const maxWholeBytes = 59;

/** Finds the nodes that a text names. */
export function nameFinder(
  nodes: readonly { readonly node: string; readonly name: string }[],
): (text: string) => readonly string[] {
  const isWord = (name: string) => name.replace(word, '') === '' && Buffer.byteLength(name) <= maxWholeBytes;
  const words = Map.groupBy(nodes, ({ name }) => (isWord(name) ? name.toLowerCase() : ''));
  const others = (words.get('') ?? []).map(({ node, name }) => ({
    node,
    part: name.replaceAll('"', '""').toLowerCase(),
  }));
  return (text) => {
    const lower = text.toLowerCase();
    const named = [...new Set(lower.match(word))].flatMap((each) => words.get(each) ?? []);
    return [...named, ...others.filter(({ part }) => lower.includes(part))].map(({ node }) => node);
  };
}

/** Languages whose routines run no statements but those in their text. */
const readable: ReadonlySet<string> = new Set(['sql', 'plpgsql', 'c', 'internal']);
/** What runs a text as a statement, and names spelled with escapes. */
const runsTexts = /\bexecute\b|_to_xml|\bts_(?:stat|rewrite)\b|\b(?:crosstab|connectby|dblink)|u&"/i;

function assembles({ language, text }: RoutineFacts): boolean {
  return !readable.has(language) || runsTexts.test(text);
}
