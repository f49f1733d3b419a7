/**
 * A policy drafted for a role: rows are those of the caller where the schema says whose they are, by policies, by columns
 * with the ids of users or by foreign keys to such rows. Otherwise the draft has a gap, which lets no row pass.
 */
import { quoteName } from '../../../../graphql/catalog/quote-name.ts';
import type { AccessOverview, AccessPolicy, AccessTable } from '../../../../management/access/access-schemas.ts';
import { bare, isWhole, sqlTokens } from '../../../../management/access/conditions.ts';
import { type AccessRole, type Action, actionWords, inParentheses, list, reachesRows } from './access-words.ts';
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

const caller = '(select auth.uid())';

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

/** The condition for the caller's own rows; null: the schema does not say whose rows are whose, or the role has no user. */
export function ownRowsFor({ overview: { tables }, table, role, anon }: DraftOf): string | null {
  return role.name === anon ? null : ownRows({ tables, role: role.name, path: [] }, table);
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

/** Whether the policy lets the caller's own rows pass and no others. */
export function isOwn({ overview: { tables }, table, role }: DraftOf, policy: AccessPolicy): boolean {
  return ownCondition({ tables, role: role.name, path: [] }, table, policy) !== null;
}

/** The tables by whose row security alone a condition is about the caller. */
export function leansOn({ tables }: AccessOverview, condition: string | null): readonly string[] {
  if (condition === null || /auth\.uid\(\)|request\.jwt/.test(condition)) return [];
  const words = wordsOf(condition);
  return tables.filter(({ object, rowSecurity }) => rowSecurity && words.has(object)).map(({ object }) => object);
}

function wordsOf(condition: string): ReadonlySet<string> {
  return new Set(condition.split(/[\s(),]+/));
}

const commandWords = { ...actionWords, all: 'read and write' } as const;

/** What a policy does, which is its name. */
export function nameOf(roles: readonly string[], command: AccessPolicy['command'], rows: string): string {
  const verbs = commandWords[command];
  if (roles.length > 1) return fitted(list.format(roles), `${verbs} ${rows} rows`);
  const [role = ''] = roles;
  const does = verbs.replaceAll(/\w+(?= and |$)/g, '$&s');
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
  const isUsed = (wanted: string) =>
    table.policies.some((policy) => policy !== dropped && policy.name === wanted) ||
    changes.some(
      (each) => each.key !== key && each.sql.includes(`create policy ${quoteName(wanted)} on ${table.object}\n`),
    );
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

/** From one table to the next. */
const maxTables = 3;

/** Where to look for whose rows are. */
interface Search {
  readonly tables: readonly AccessTable[];
  /** Null: policies of any role. */
  readonly role: string | null;
  /** Tables that lead here. */
  readonly path: readonly AccessTable[];
}

/** The shortest condition that only rows of the caller fulfil; null: the schema says nothing of whose they are. */
function ownRows(search: Search, table: AccessTable): string | null {
  const { tables, role, path } = search;
  for (const policy of table.policies) {
    const condition = ownCondition(search, table, policy);
    // Called once for all rows, not for each.
    if (condition !== null)
      return outline(condition) === condition ? condition.replace('auth.uid()', caller) : condition;
  }
  const column = userColumn(tables, table);
  if (column !== undefined) return `${quoteName(column)} = ${caller}`;
  const next = { tables, role, path: [...path, table] };
  if (next.path.length === maxTables) return null;
  const found = table.references.flatMap((reference) => {
    const other = tables.find(({ object }) => object === reference.object);
    if (other === undefined || next.path.includes(other)) return [];
    const own = quoteName(reference.column);
    // A profile has the id of its user.
    if (userColumn(tables, other) === reference.key) return [`${own} = ${caller}`];
    const condition = ownRows(next, other);
    if (condition === null || !mayRead(other, role, `${reference.key} ${condition}`)) return [];
    return [`${own} in (select ${quoteName(reference.key)} from ${other.object} where ${condition})`];
  });
  return found.toSorted((a, b) => a.length - b.length)[0] ?? null;
}

/** Conditions read other tables with the rights of the caller. */
function mayRead({ rights, columns }: AccessTable, role: string | null, text: string): boolean {
  const select = rights.find((each) => each.role === role)?.select;
  if (select === undefined || !reachesRows(select)) return false;
  return columns.every((name) => select.columns?.includes(name) !== false || !text.includes(name));
}

const userNames = /^(user|owner|author|account|profile|created_by)(_?id)?$/;

/** The column with the id of the user that a row belongs to. */
function userColumn(tables: readonly AccessTable[], { uuidColumns, references }: AccessTable): string | undefined {
  const isUser = (name: string) => references.some(({ column, object }) => column === name && object === 'auth.users');
  const others = uuidColumns.filter((name) => !references.some(({ column }) => column === name));
  return uuidColumns.find(isUser) ?? others.find((name) => userNames.test(name) || decides(tables, name));
}

/** Whether policies of the schema compare a column of the name with the caller. */
function decides(tables: readonly AccessTable[], name: string): boolean {
  return tables.some((table) =>
    table.policies.some((policy) => {
      const condition = ownCondition({ tables, role: null, path: [] }, table, policy);
      return (
        condition !== null &&
        (condition.startsWith(`${quoteName(name)} = `) || condition.endsWith(` = ${quoteName(name)}`))
      );
    }),
  );
}

/** Shapes that say whose a row is, without what is in parentheses. */
const ownShape = /^(?:EXISTS \(\)|[\w."]+ (?:= (?:auth\.uid)?|IN |= ANY )\(\)|(?:auth\.uid)?\(\) = [\w."]+)$/;

/** The condition of a policy that lets the caller's rows pass and no others; null: it is another one, or not the role's. */
function ownCondition(search: Search, table: AccessTable, policy: AccessPolicy): string | null {
  const { isPermissive, using, check } = policy;
  const text = using ?? check;
  if (!isPermissive || !isOfRole(policy, search.role) || text === null || !isWhole(policy)) return null;
  const condition = bare(text);
  if (!/auth\.uid\(\)|request\.jwt/.test(condition) && !readsOwn(search, table, condition)) return null;
  const shape = outline(condition);
  // One that is the same for every row concerns the caller alone.
  const isOfRow = !shape.startsWith('EXISTS') || condition.includes(`${quoteName(table.name)}.`);
  return ownShape.test(shape) && isOfRow ? condition : null;
}

/** Whether a permissive policy names the role for the action. Roles that it is a member of are not known here. */
export function hasPolicyFor({ policies }: AccessTable, role: string, action: Action): boolean {
  return policies.some(
    (policy) => policy.isPermissive && ['all', action].includes(policy.command) && isOfRole(policy, role),
  );
}

function isOfRole({ roles }: AccessPolicy, role: string | null): boolean {
  return role === null || roles.some((each) => each === role || each === 'public');
}

/** Whether a condition reads a table of which the role sees its own rows alone. */
function readsOwn({ tables, role, path }: Search, table: AccessTable, condition: string): boolean {
  const next = { tables, role, path: [...path, table] };
  if (next.path.length === maxTables) return false;
  const words = wordsOf(condition);
  return tables.some((other) => {
    if (!words.has(other.object) || !other.rowSecurity || next.path.includes(other)) return false;
    const deciding = other.policies.filter(
      (policy) => policy.isPermissive && ['all', 'select'].includes(policy.command) && isOfRole(policy, role),
    );
    return deciding.length > 0 && deciding.every((policy) => ownCondition(next, other, policy) !== null);
  });
}

/** `a = (select …)` becomes `a = ()`. */
function outline(condition: string): string {
  let depth = 0;
  let text = '';
  for (const [token] of condition.matchAll(sqlTokens)) {
    if (token === ')') depth -= 1;
    if (depth === 0) text += token;
    if (token === '(') depth += 1;
  }
  return text;
}
