/** What the answer of the API means, in sentences and in the SQL that changes it. */
import { quoteName } from '../../../../graphql/catalog/quote-name.ts';
import type {
  AccessOverview,
  AccessPolicy,
  AccessRight,
  AccessTable,
} from '../../../../management/access/access-schemas.ts';
import { bare } from '../../../../management/access/conditions.ts';
import { unreadKey } from '../../../../management/access/unread-key.ts';

/** What a role may do with a table. */
export const actions = ['select', 'insert', 'update', 'delete'] as const;

/** One of them. */
export type Action = (typeof actions)[number];

/** The words of people for them. */
export const actionWords = { select: 'read', insert: 'insert', update: 'update', delete: 'delete' } as const;

/** The kinds of tables in words. */
export const kindWords = {
  table: 'Table',
  view: 'View',
  materialized_view: 'Materialized view',
  partitioned_table: 'Partitioned table',
  foreign_table: 'Foreign table',
} as const satisfies Record<AccessTable['kind'], string>;

/** `a, b and c`. */
export const list = new Intl.ListFormat('en');

/** A role of the overview. */
export type AccessRole = AccessOverview['roles'][number];

/** `read all rows`, `insert none`. */
export function sayRight(action: Action, { rows, columns, lacks }: AccessRight): string {
  if (lacks === 'key') return `${actionWords[action]} none (lacks the key)`;
  const some = columns === undefined ? '' : ' of some columns';
  return `${actionWords[action]} ${rows}${some}`;
}

/** `the column a`, `the columns a, b`, `all columns`, `none`. @param isByName Grants of all columns one by one cover no later one. */
export function sayColumns({ columns }: AccessTable, some: readonly string[], isByName = false): string {
  if (some.length === 0) return 'none';
  if (some.length === columns.length && !isByName) return 'all columns';
  return `the ${some.length === 1 ? 'column' : 'columns'} ${some.join(', ')}`;
}

/** Whether there is a grant. Without usage of the schema it has no effect. */
export function isGranted({ lacks, grantees }: AccessRight): boolean {
  return lacks === 'usage' ? grantees !== undefined : lacks !== 'grant';
}

/** Whether SQL reaches rows, whatever the API needs besides. */
export function reachesRows({ lacks }: AccessRight): boolean {
  return lacks === undefined || lacks === 'key';
}

/** The columns of the key that are missing among those that are read, in words; null: none is. */
export function sayUnreadKey({ key }: AccessTable, columns: readonly string[]): string | null {
  const unread = columns.length === 0 ? [] : unreadKey(key, columns);
  return unread.length === 0 ? null : list.format(unread);
}

/** What follows of it. @param unread As `sayUnreadKey` says it. */
export function explainKey(unread: string): string {
  return `The API orders rows by the key: without ${unread}, every read fails.`;
}

/** Why the right is as it is, in a sentence. */
export function explain(table: AccessTable, role: string, action: Action, right: AccessRight): string {
  const word = actionWords[action];
  const columns = right.columns === undefined ? '' : ` Only ${sayColumns(table, right.columns, true)}.`;
  const others = (right.grantees ?? []).filter((name) => name !== role);
  const by = others.length === 0 ? '' : ` Granted to ${others.join(', ')}.`;
  switch (right.lacks) {
    case 'usage':
      return `${role} may not use the schema ${table.schema}, so none of its tables.${isGranted(right) ? `${columns}${by}` : ` No grant lets it ${word}, either.`}`;
    case 'grant':
      return `No grant lets ${role} ${word}.`;
    case 'view':
      return `PostgreSQL cannot ${word} through this ${kindWords[table.kind].toLowerCase()}.`;
    case 'policy':
      return `Row security is on, and no policy lets ${role} ${word} rows.${columns}${by}`;
    case 'key':
      return `${explainKey(sayUnreadKey(table, right.columns ?? []) ?? '')}${columns}${by}`;
    case 'user':
      return `${namePolicies(table, right.policies ?? [], true, 'or')} asks for a signed-in user, which ${role} is not.${columns}${by}`;
    default:
  }
  if (right.policies !== undefined) return `${explainPolicies(table, right, right.policies)}${columns}${by}`;
  const isExempt = table.rights.find((each) => each.role === role)?.isExempt === true;
  const why = table.rowSecurity && isExempt ? `, because row security does not concern ${role}` : '';
  return `All rows${why}.${columns}${by}`;
}

function namePolicies(
  { policies }: AccessTable,
  deciding: readonly string[],
  isPermissive: boolean,
  conjunction: 'and' | 'or',
): string {
  return new Intl.ListFormat('en', { type: conjunction === 'or' ? 'disjunction' : 'conjunction' }).format(
    policies
      .filter((policy) => policy.isPermissive === isPermissive && deciding.includes(policy.name))
      .map(({ name }) => `“${name}”`),
  );
}

/** Any permissive policy is enough, and every restrictive one has to agree. */
function explainPolicies(table: AccessTable, { rows }: AccessRight, deciding: readonly string[]): string {
  const permissive = namePolicies(table, deciding, true, 'or');
  const restrictive = namePolicies(table, deciding, false, 'and');
  if (rows === 'all') return `All rows, by ${permissive}.`;
  return `The rows that ${permissive} lets pass${restrictive === '' ? '' : `, if they pass ${restrictive}, too`}.`;
}

/** Whether policies let rows pass for the role, so that another one can only add some. */
export function hasPermissive({ rights, policies }: AccessTable, role: AccessRole): boolean {
  const right = rights.find((each) => each.role === role.name);
  const deciding = actions.flatMap((action) => right?.[action].policies ?? []);
  return policies.some(({ isPermissive, name }) => isPermissive && deciding.includes(name));
}

/** A warning about the table as a whole; null: none. */
export function warnOf(table: AccessTable): string | null {
  const isRead = table.rights.some(({ isExempt, select }) => isExempt && select.rows !== 'none');
  if (table.runsAs === 'owner') {
    const beyond = table.ownerBypasses ? ', past the row security of the tables below it' : '';
    return `This view reads with the rights of ${table.owner}${beyond}. With security_invoker it reads with those of its caller.`;
  }
  if (['table', 'partitioned_table'].includes(table.kind) && !table.rowSecurity && isRead)
    return 'Row security is off: who has a grant reaches all rows.';
  if (table.rowSecurity && table.policies.length === 0)
    return 'Row security is on without a policy: only roles that bypass it reach rows.';
  return null;
}

/** Whether policies decide what the role reaches. */
export function isUnderPolicies(table: AccessTable, role: AccessRole): boolean {
  const isExempt = table.rights.find((each) => each.role === role.name)?.isExempt === true;
  return !isExempt && (table.kind === 'table' || table.kind === 'partitioned_table');
}

/** The statement that makes a policy as it is. @param format Of its conditions, with their parentheses. */
export function printPolicy({ object }: AccessTable, policy: AccessPolicy, format = inParentheses): string {
  const { name, command, isPermissive, roles, using, check } = policy;
  return [
    `create policy ${quoteName(name)} on ${object}`,
    ...(isPermissive ? [] : ['  as restrictive']),
    `  for ${command} to ${roles.map((role) => (role === 'public' ? role : quoteName(role))).join(', ')}`,
    ...(using === null ? [] : [`  using ${format(bare(using))}`]),
    ...(check === null ? [] : [`  with check ${format(bare(check))}`]),
  ]
    .join('\n')
    .concat(';');
}

/** The condition in one line. */
export function inParentheses(condition: string): string {
  return `(${condition})`;
}
