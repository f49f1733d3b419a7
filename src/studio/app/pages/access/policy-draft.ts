/**
 * A policy drafted for a role: rows are those of the caller where the schema says whose they are. Otherwise the draft has a gap,
 * which lets no row pass.
 */
import { quoteName } from '../../../../graphql/catalog/quote-name.ts';
import type { AccessOverview, AccessPolicy, AccessTable } from '../../../../management/access/access-schemas.ts';
import { type AccessRole, type Action, actionWords, inParentheses, list } from './access-words.ts';
import { isOfRole, isOwn, leansOn, ownRowsFor } from './own-rows.ts';
import type { SqlChange } from './sql-changes.ts';

/** What a draft is made of. */
export interface DraftOf {
  readonly overview: AccessOverview;
  readonly table: AccessTable;
  readonly role: AccessRole;
  /** Callers with this role have no id. */
  readonly anon: string;
  /** Of conditions, with their parentheses. */
  readonly format?: ((condition: string) => string) | undefined;
  /** What is collected so far. */
  readonly changes: readonly SqlChange[];
}

/** What a new policy for an action is collected under. */
export function draftKey({ object }: AccessTable, role: AccessRole, action: Action): string {
  return `policy for ${action} on ${object} for ${role.name}`;
}

/** The change that makes the policy. */
export function draftChange(of: DraftOf, action: Action): SqlChange {
  const { overview, table, role, format = inParentheses } = of;
  const isThere = table.policies.some((policy) => ['all', action].includes(policy.command) && isOwn(of, policy));
  const own = isThere ? null : ownRowsFor(of);
  const key = draftKey(table, role, action);
  const name = unusedName(of, nameOf([role.name], action, own === null ? 'some' : 'own'), { key, dropped: null });
  const clause = action === 'insert' ? 'with check' : 'using';
  const sql = [
    `create policy ${quoteName(name)} on ${table.object}`,
    `  for ${action} to ${role.object}`,
    `  ${clause} ${own === null ? inParentheses(gap(table)) : format(own)};`,
  ].join('\n');
  return {
    key,
    sql,
    words: own === null ? 'a new policy' : 'a new policy for own rows',
    adds: { object: table.object, role: role.name, action },
    leansOn: leansOn(overview, own),
  };
}

/** The column that the condition compares with the caller; null: none. */
export function comparedColumn({ columns }: AccessTable, condition: string): string | null {
  const found = columns.find((name) => {
    const quoted = quoteName(name);
    return condition.startsWith(`${quoted} = `) || condition.endsWith(` = ${quoted}`);
  });
  return found ?? null;
}

/** The index that finds the rows of a condition; null: there is one, or none that a column says. */
export function indexChange({ object, indexedColumns }: AccessTable, column: string | null): SqlChange | null {
  if (column === null || indexedColumns.includes(column)) return null;
  const on = `${object} (${quoteName(column)})`;
  return { key: `index on ${on}`, sql: `create index on ${on};`, words: `an index of ${column}`, isOptional: true };
}

const commandWords = { ...actionWords, all: 'read and write' } as const;

/** What a policy does, which is its name. */
export function nameOf(roles: readonly string[], command: AccessPolicy['command'], rows: string): string {
  const verbs = commandWords[command];
  if (roles.length > 1) return fitted(list.format(roles), `${verbs} ${rows} rows`);
  const [role = ''] = roles;
  const does = verbs.replaceAll(/(?<!\w)\w+(?= and |$)/g, '$&s');
  return fitted(role === 'public' ? 'everyone' : role, `${does} ${rows} rows`);
}

/** PostgreSQL keeps 63 bytes of a name; a number may follow. */
const maxNameBytes = 63 - ' 999'.length;

function fitted(who: string, does: string): string {
  const bytes = (text: string) => new TextEncoder().encode(text).length;
  if (bytes(`${who} ${does}`) <= maxNameBytes) return `${who} ${does}`;
  const letters = [...who];
  while (bytes(`${letters.join('')}… ${does}`) > maxNameBytes) letters.pop();
  return `${letters.join('')}… ${does}`;
}

/**
 * The name, with a number if the table has or gets another policy of it.
 *
 * @param key What the new policy is collected under. @param dropped The policy in whose place it comes.
 */
export function unusedName(
  { table, changes }: DraftOf,
  name: string,
  { key, dropped }: { readonly key: string; readonly dropped: AccessPolicy | null },
): string {
  const isUsed = (wanted: string) => {
    const statement = `create policy ${quoteName(wanted)} on ${table.object}\n`;
    return (
      table.policies.some((policy) => policy !== dropped && policy.name === wanted) ||
      changes.some((each) => each.key !== key && each.sql.includes(statement))
    );
  };
  for (let number = 1; ; number += 1) {
    const next = number === 1 ? name : `${name} ${number}`;
    if (!isUsed(next)) return next;
  }
}

/** So many columns are named for whoever writes the condition. */
const namedColumns = 10;

function gap({ columns }: AccessTable): string {
  // A name may not end the comment or begin another one.
  const names = columns.map(quoteName).filter((name) => !/[*/\n]/.test(name));
  const more = names.length > namedColumns ? ', …' : '';
  return `false /* which rows? by ${names.slice(0, namedColumns).join(', ')}${more} */`;
}

/** A place in a statement. */
export interface Gap {
  readonly start: number;
  readonly end: number;
  /** From 1. */
  readonly line: number;
}

/** Names and texts may look like a gap. */
const quotedOrGap = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\bfalse \/\* which rows\? [^*]*\*\//g;

/** Where a condition has yet to be written; null: nowhere. */
export function findGap(sql: string): Gap | null {
  const found = [...sql.matchAll(quotedOrGap)].find(([text]) => text.startsWith('false'));
  if (found === undefined) return null;
  const { index: start, 0: text } = found;
  return { start, end: start + text.length, line: sql.slice(0, start).split('\n').length };
}

/** Whether a permissive policy names the role for the action. Roles that it is a member of are not known here. */
export function hasPolicyFor({ policies }: AccessTable, role: string, action: Action): boolean {
  return policies.some(
    (policy) => policy.isPermissive && ['all', action].includes(policy.command) && isOfRole(policy, role),
  );
}
