/** Grants and what is beside them: the changes that give rights on a table and its columns, or take them. */
import { quoteName } from '../../../../graphql/catalog/quote-name.ts';
import type { AccessRight, AccessTable } from '../../../../management/access/access-schemas.ts';
import { type AccessRole, type Action, isGranted, sayColumns } from './access-words.ts';
import type { SqlChange } from './sql-changes.ts';

/** The actions that can be granted on columns. */
export const columnActions = ['select', 'insert', 'update'] as const;

/** One of them. */
export type ColumnAction = (typeof columnActions)[number];

/** What a grant of an action to a role is collected under: one of the table and one of columns cannot both be meant. */
export function privilegeKey({ object }: AccessTable, role: AccessRole, action: Action): string {
  return `${action} on ${object} for ${role.name}`;
}

/** The columns that a right covers. */
export function columnsOf({ columns }: AccessTable, right: AccessRight): readonly string[] {
  return isGranted(right) ? (right.columns ?? columns) : [];
}

/** What makes a right cover these columns; null: it does. */
export function privilegeChange(
  table: AccessTable,
  role: AccessRole,
  action: Action,
  right: AccessRight,
  wanted: readonly string[],
): SqlChange | null {
  const sql = privilegeSql(table, role, action, right, wanted);
  if (sql === null) return null;
  const words = action === 'delete' && wanted.length > 0 ? 'all rows' : sayColumns(table, wanted);
  const has = columnsOf(table, right);
  const isFirst = right.lacks === 'usage' && wanted.some((name) => !has.includes(name));
  return {
    key: privilegeKey(table, role, action),
    // By itself it would lead to nothing.
    sql: isFirst ? `${usageSql(table, role)}\n${sql}` : sql,
    words: isFirst ? `${words}, with ${usageOf(table)}` : words,
    columns: wanted,
  };
}

/** What makes a role read these columns and the key, by which rows are ordered; null: it does. */
export function addKey(
  table: AccessTable,
  role: AccessRole,
  right: AccessRight,
  columns: readonly string[],
): SqlChange | null {
  return privilegeChange(table, role, 'select', right, withKey(table, columns));
}

/** The columns and those of the key, in the order of the table. */
export function withKey({ columns, key }: AccessTable, some: readonly string[]): readonly string[] {
  return columns.filter((name) => some.includes(name) || key?.includes(name) === true);
}

function privilegeSql(
  table: AccessTable,
  role: AccessRole,
  action: Action,
  right: AccessRight,
  wanted: readonly string[],
): string | null {
  const has = columnsOf(table, right);
  const added = wanted.filter((name) => !has.includes(name));
  const removed = has.filter((name) => !wanted.includes(name));
  if (added.length + removed.length === 0) return null;
  const grant = (columns: readonly string[]): string =>
    `grant ${action}${listed(table, columns)} on ${table.object} to ${role.object};`;
  if (removed.length === 0) return grant(added.length + has.length === table.columns.length ? wanted : added);
  // A grant of the whole table covers each column: it goes first.
  return [revoke(table, role, action, right), ...(wanted.length === 0 ? [] : [grant(wanted)])].join('\n');
}

/** Takes it from whoever was granted it: of a grant to `public`, the role alone can lose nothing. Grants of columns go with it. */
function revoke({ object }: AccessTable, role: AccessRole, action: Action, { grantees = [] }: AccessRight): string {
  const from = grantees.map((name) => (name === 'public' ? name : quoteName(name)));
  return `revoke ${action} on ${object} from ${from.length === 0 ? role.object : from.join(', ')};`;
}

/** Of all columns, none is named, so that later ones are covered. */
function listed({ columns }: AccessTable, some: readonly string[]): string {
  return some.length === columns.length ? '' : ` (${some.map(quoteName).join(', ')})`;
}

/** Lets a role use the schema of the table. */
export function usageChange(table: AccessTable, role: AccessRole): SqlChange {
  return { key: `${usageOf(table)} for ${role.name}`, sql: usageSql(table, role), words: usageOf(table) };
}

function usageSql({ schema }: AccessTable, role: AccessRole): string {
  return `grant usage on schema ${quoteName(schema)} to ${role.object};`;
}

function usageOf({ schema }: AccessTable): string {
  return `usage of ${schema}`;
}

/** What switches row security, or whose rights a view has; null: the table has neither. */
export function tableChange({
  object,
  kind,
  rowSecurity,
  runsAs,
}: AccessTable): (SqlChange & { title: string }) | null {
  const key = `table ${object}`;
  if (runsAs !== null) {
    const isCaller = runsAs === 'caller';
    const title = isCaller ? "Read with the owner's rights" : "Read with the caller's rights";
    return {
      key,
      title,
      words: title,
      sql: `alter view ${object} set (security_invoker = ${isCaller ? 'off' : 'on'});`,
    };
  }
  if (kind !== 'table' && kind !== 'partitioned_table') return null;
  const title = rowSecurity ? 'Disable row security' : 'Enable row security';
  return {
    key,
    title,
    words: title,
    sql: `alter table ${object} ${rowSecurity ? 'disable' : 'enable'} row level security;`,
  };
}
