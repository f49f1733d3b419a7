/**
 * The check of `pgreflect check` for routines that run with the rights of their owner. What else needs such a routine
 * decides what is safe to do about it: a policy, a view or the text of another routine may call it.
 */
import { quoteName } from '../graphql/catalog/quote-name.ts';
import { loadSqlFile } from '../postgres/system/sql-file.ts';
import { ignoredByComments } from './check-api.ts';
import { asStatement, type Check, type Finding, firstOf, remark } from './finding.ts';
import { findReachedRoutines, type ReachedRoutines } from './reached-routines.ts';

/** Security definer routines that look names up in the caller's search path, or that visitors may call. */
export const findLooseRoutines: Check = async ({ tx, catalog, schemas, roles, serviceRole }) => {
  const everyRole = [...roles, serviceRole];
  const rows = await tx.query(loadSqlFile('check/routines.sql'), [schemas, everyRole]);
  const loose = rows as readonly unknown[] as readonly LooseRoutine[];
  const paths = loose.filter(({ kind }) => kind === 'search_path');
  const reach = paths.length === 0 ? null : await findReachedRoutines(tx, everyRole, schemas);
  const isReached = ({ kind, oid }: LooseRoutine) => kind !== 'search_path' || reach?.reached.has(oid) === true;
  const isIgnored = ignoredByComments(catalog);
  const others = paths.filter(
    (row) => !isReached(row) && !isIgnored({ check: 'definer_search_path', object: row.name }),
  );
  const found = loose.filter(isReached).map((row): Finding => {
    const { name, owner, kind, grantees, fix, uses } = row;
    const runs = `The routine ${name} runs with the rights of "${owner}"`;
    const about = { severity: 'warning', object: name } as const;
    if (kind === 'search_path') {
      const message = `${runs} and without a fixed search path: a caller can substitute other objects for the ones it names.`;
      return { ...about, check: 'definer_search_path', message, fix: `${asStatement(fix)}\n${pathAdvice}` };
    }
    const users = uses.filter(({ visited }) => visited).map(({ text }) => text);
    const needed = users.length === 0 ? '' : ` They need that for ${firstOf(users)}.`;
    const message = `${runs}, and anonymous callers can call it (granted to ${grantees}).${needed}`;
    return {
      ...about,
      check: 'definer_callable',
      message,
      fix: routineFix(row, { isNeeded: users.length > 0, roles: everyRole }),
    };
  });
  return others.length === 0 ? found : [...found, describeUnreached(others, reach!)];
};

/** One finding for all that no caller is seen to reach: a database may have hundreds. */
function describeUnreached(rows: readonly LooseRoutine[], { assembling }: ReachedRoutines): Finding {
  const run = rows.length === 1 ? `The routine ${rows[0]!.name} runs` : `${rows.length} routines run`;
  const names = rows.length === 1 ? '' : ` These are ${firstOf(rows.map(({ name }) => name))}.`;
  const may = `But ${firstOf(assembling)} ${assembling.length === 1 ? 'puts' : 'put'} statements together, and may call any routine.`;
  return {
    check: 'definer_search_path',
    severity: assembling.length === 0 ? 'note' : 'warning',
    object: null,
    message: `${run} with the rights of the owner and without a fixed search path. Nothing that API roles may use is seen to call ${rows.length === 1 ? 'it' : 'them'}.${assembling.length === 0 ? '' : ` ${may}`}${names}`,
    fix: [...rows.map(({ fix }) => asStatement(fix)), pathAdvice].join('\n'),
  };
}

/** The text may name what only a caller's path finds. */
const pathAdvice = remark('Its text must name what is in other schemas with the schema. Or add these to the path.');

/** One row of sql/check/routines.sql. */
interface LooseRoutine extends Readonly<Record<'oid' | 'name' | 'owner' | 'kind' | 'fix', string>> {
  readonly grantees: string | null;
  readonly lost: string | null;
  readonly uses: readonly { readonly text: string; readonly visited: boolean }[];
  readonly bodies: readonly string[] | null;
}

/** Nothing but choices where visitors need the routine for something else. */
function routineFix({ name, lost, uses, bodies, fix }: LooseRoutine, { isNeeded, roles }: Need): string {
  const kept = lost === null ? [] : [`grant execute on routine ${name} to ${lost};`];
  if (!isNeeded && uses.length > 0) return [...kept, asStatement(fix)].join('\n');
  if (!isNeeded) {
    return [asStatement(fix), ...(lost === null ? [] : [remark('For roles that should call it:', ...kept)])].join('\n');
  }
  const named =
    bodies === null ? 'functions and clients that name it do not' : `texts do not, such as ${firstOf(bodies)}`;
  return [
    remark('To take it from anonymous callers, for whom what needs it fails then:', ...kept, fix),
    remark(
      `To move it out of the API. Policies, views and triggers follow it; ${named}:`,
      'create schema if not exists private',
      `grant usage on schema private to ${roles.map(quoteName).join(', ')}`,
      `alter routine ${name} set schema private`,
    ),
  ].join('\n');
}

interface Need {
  /** By visitors, for something else. */
  readonly isNeeded: boolean;
  readonly roles: readonly string[];
}
