/**
 * The check of `pgreflect check` for claims and headers that policies, views and functions read, and that live queries do
 * not pass on: `--live-claims` and `--live-headers` leave them out, so that what depends on them finds nothing.
 */
import { loadSqlFile } from '../postgres/system/sql-file.ts';
import { type PassingRoutine, type PassingRoutines, readsOf, type Source } from './claim-reads.ts';
import { type Check, type Finding, firstOf } from './finding.ts';
import { nameFinder } from './reached-routines.ts';

/** The row of sql/check/live-readers.sql. */
interface Facts {
  readonly entries: readonly string[];
  readonly conditions: readonly Condition[];
  readonly routines: readonly Routine[];
  readonly relations: readonly { readonly node: string; readonly name: string }[];
}

interface Condition extends Readonly<Record<'node' | 'path' | 'text', string>> {
  readonly kind: 'policy' | 'view';
  readonly name: string | null;
  readonly uses: readonly string[];
}

interface Routine extends Readonly<Record<'node' | 'name' | 'path' | 'text', string>> {
  readonly uses: readonly string[];
}

/** A policy, a view or a function that a query may run. */
interface Reader {
  /** How a sentence begins. */
  readonly subject: string;
  readonly object: string;
  readonly text: string;
  /** Nodes of what it uses. */
  readonly uses: readonly string[];
}

const kinds = {
  claims: { check: 'live_claim_missing', word: 'claim', option: '--live-claims' },
  headers: { check: 'live_header_missing', word: 'header', option: '--live-headers' },
} as const;

/** Values of the caller that live queries leave out although something reads them. */
export const findMissingLiveValues: Check = async ({ tx, schemas, live }) => {
  const limited = (['claims', 'headers'] as const).filter((source) => live[source] !== '*');
  if (limited.length === 0) return [];
  const [row] = await tx.query(loadSqlFile('check/live-readers.sql'), [schemas]);
  const facts = withNamed(row as unknown as Facts);
  const readers = findReaders(facts);
  return limited.flatMap((source) => findMissing(source, live[source] as readonly string[], { readers, facts }));
};

/** Adds to the uses of routines what their texts name: PostgreSQL records those of SQL bodies alone. */
function withNamed(facts: Facts): Facts {
  const named = nameFinder([...facts.routines, ...facts.relations]);
  const routines = facts.routines.map((one) => ({ ...one, uses: [...new Set([...one.uses, ...named(one.text)])] }));
  return { ...facts, routines };
}

/** What a query may run: conditions of all relations that are reached, and exposed functions. */
function findReaders({ entries, conditions, routines }: Facts): readonly Reader[] {
  const routineOf = new Map(routines.map((routine) => [routine.node, routine]));
  const conditionsOf = Map.groupBy(conditions, ({ node }) => node);
  const reached = new Set(entries);
  // A set is iterated over what is added meanwhile, too.
  for (const node of reached) {
    const used = [...(conditionsOf.get(node) ?? []), routineOf.get(node)].flatMap((one) => one?.uses ?? []);
    for (const next of used) reached.add(next);
  }
  const ofRelations = conditions
    .filter(({ node }) => reached.has(node))
    .map(({ kind, name, path, text, uses }) => {
      const subject = kind === 'policy' ? `The policy "${name}" of ${path}` : `The view ${path}`;
      return { subject, object: path, text, uses };
    });
  const exposed = entries.flatMap((node) => routineOf.get(node) ?? []);
  return [
    ...ofRelations,
    ...exposed.map(({ path, text, uses }) => ({ subject: `The function ${path}`, object: path, text, uses })),
  ];
}

/** One finding for each reader of what is left out. The option to set is the same for all. */
function findMissing(
  source: Source,
  given: readonly string[],
  { readers, facts: { routines } }: { readonly readers: readonly Reader[]; readonly facts: Facts },
): readonly Finding[] {
  const { check, word, option } = kinds[source];
  const passing = findPassing(routines, source);
  const found = readers
    .map((reader) => ({ reader, missing: [...namesRead(reader, source, { routines, passing })] }))
    .map(({ reader, missing }) => ({ reader, missing: missing.filter(([name]) => !given.includes(name)) }))
    .filter(({ missing }) => missing.length > 0);
  const named = found.flatMap(({ missing }) => missing.map(([name]) => name)).filter(isPlain);
  const all = new Set([...given, ...named.sort()]);
  return found.map(({ reader: { subject, object }, missing }): Finding => {
    const names = missing.map(([name, routine]) => `"${name}"${routine === null ? '' : ` (in ${routine})`}`);
    const those = `the ${word}${names.length === 1 ? '' : 's'} ${firstOf(names)}`;
    const message = `${subject} reads ${those}, which ${option} keeps from live queries: they see nothing there.`;
    const command = named.length === 0 ? {} : { command: `${option} ${[...all].join(',')}` };
    return { check, severity: 'warning', object, message, fix: null, ...command };
  });
}

/** A tenant may have written the name: what needs quotes is nothing to paste into a shell. */
function isPlain(name: string): boolean {
  return /^\w[\w.:/-]*$/.test(name);
}

/** The names that run with a reader, each with the routine that reads it; null: the reader itself. */
function namesRead(
  { text, uses }: Reader,
  source: Source,
  { routines, passing }: { readonly routines: readonly Routine[]; readonly passing: PassingRoutines },
): ReadonlyMap<string, string | null> {
  const own = [...readsOf(text, source, passing).names];
  const names = new Map<string, string | null>(own.map((name) => [name, null]));
  const routineOf = new Map(routines.map((routine) => [routine.node, routine]));
  const inside = new Set(uses);
  for (const node of inside) {
    const routine = routineOf.get(node);
    if (routine === undefined) continue;
    for (const name of readsOf(routine.text, source, passing).names) {
      if (!names.has(name)) names.set(name, routine.path);
    }
    for (const next of routine.uses) inside.add(next);
  }
  return names;
}

/** Routines that hand on what they read, also through others. */
function findPassing(routines: readonly Routine[], source: Source): PassingRoutines {
  const passing = new Map<string, PassingRoutine>();
  for (let known = -1; known < passing.size; ) {
    known = passing.size;
    for (const { name, text } of routines) {
      const { passes } = readsOf(text, source, passing);
      if (passes !== null) passing.set(name.toLowerCase(), { source, passes });
    }
  }
  return passing;
}
