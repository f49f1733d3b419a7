/** What the answer of the API means, in sentences and in the SQL that changes it. */
import { quoteName } from '../../../../graphql/catalog/quote-name.ts';
import type {
  AccessOverview,
  AccessPolicy,
  AccessRight,
  AccessTable,
} from '../../../../management/access/access-schemas.ts';

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

/** A role of the overview. */
export type AccessRole = AccessOverview['roles'][number];

/** `read all rows`, `insert none`. */
export function sayRight(action: Action, { rows, columns }: AccessRight): string {
  const some = columns === undefined ? '' : ' of some columns';
  return `${actionWords[action]} ${rows}${some}`;
}

/** Why the right is as it is, in a sentence. */
export function explain(table: AccessTable, role: string, action: Action, right: AccessRight): string {
  const word = actionWords[action];
  const columns = right.columns === undefined ? '' : ` Only the columns ${right.columns.join(', ')}.`;
  const others = (right.grantees ?? []).filter((name) => name !== role);
  const by = others.length === 0 ? '' : ` Granted to ${others.join(', ')}.`;
  switch (right.lacks) {
    case 'usage':
      return `${role} may not use the schema ${table.schema}, so none of its tables.`;
    case 'grant':
      return `No grant lets ${role} ${word}.`;
    case 'view':
      return `PostgreSQL cannot ${word} through this ${kindWords[table.kind].toLowerCase()}.`;
    case 'policy':
      return `Row security is on, and no policy lets ${role} ${word} rows.${columns}${by}`;
    default:
  }
  if (right.policies !== undefined) return `${explainPolicies(table, right, right.policies)}${columns}${by}`;
  const isExempt = table.rights.find((each) => each.role === role)?.isExempt === true;
  const why = table.rowSecurity && isExempt ? `, because row security does not concern ${role}` : '';
  return `All rows${why}.${columns}${by}`;
}

/** Any permissive policy is enough, and every restrictive one has to agree. */
function explainPolicies({ policies }: AccessTable, { rows }: AccessRight, deciding: readonly string[]): string {
  const named = (isPermissive: boolean, conjunction: string): string =>
    new Intl.ListFormat('en', { type: conjunction === 'or' ? 'disjunction' : 'conjunction' }).format(
      policies
        .filter((policy) => policy.isPermissive === isPermissive && deciding.includes(policy.name))
        .map(({ name }) => `“${name}”`),
    );
  const permissive = named(true, 'or');
  const restrictive = named(false, 'and');
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

/** A statement that changes what a role may do. */
export interface Remedy {
  readonly title: string;
  readonly sql: string;
}

/** What gives a right that is missing, or takes one that is there. @param draft Of a policy. */
export function remedyOf(
  table: AccessTable,
  role: AccessRole,
  action: Action,
  right: AccessRight,
  draft: () => string,
): Remedy | null {
  const { object, schema } = table;
  switch (right.lacks) {
    case 'usage':
      return { title: 'Grant usage', sql: `grant usage on schema ${quoteName(schema)} to ${role.object};` };
    case 'grant':
      return { title: 'Grant', sql: `grant ${action} on ${object} to ${role.object};` };
    case 'policy':
      return { title: 'Draft a policy', sql: draft() };
    case 'view':
      return null;
    default:
      return { title: 'Revoke', sql: revoke(table, role, action, right) };
  }
}

/** Takes it from whoever was granted it: of a grant to `public`, the role alone can lose nothing. Grants of columns go with it. */
function revoke({ object }: AccessTable, role: AccessRole, action: Action, { grantees = [] }: AccessRight): string {
  const from = grantees.map((name) => (name === 'public' ? name : quoteName(name)));
  return `revoke ${action} on ${object} from ${from.length === 0 ? role.object : from.join(', ')};`;
}

/** The actions that can be granted on columns. */
export const columnActions = ['select', 'insert', 'update'] as const;

/** One of them. */
export type ColumnAction = (typeof columnActions)[number];

/** The columns that a right covers. */
export function columnsOf({ columns }: AccessTable, right: AccessRight): readonly string[] {
  if (right.lacks === 'grant' || right.lacks === 'usage') return [];
  return right.columns ?? columns;
}

/** What makes a right cover these columns; null: it does. */
export function columnsRemedy(
  table: AccessTable,
  role: AccessRole,
  action: ColumnAction,
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

/** Of all columns, none is named, so that later ones are covered. */
function listed({ columns }: AccessTable, some: readonly string[]): string {
  return some.length === columns.length ? '' : ` (${some.map(quoteName).join(', ')})`;
}

/** Whether policies decide what the role reaches. */
export function isUnderPolicies(table: AccessTable, role: AccessRole): boolean {
  const isExempt = table.rights.find((each) => each.role === role.name)?.isExempt === true;
  return !isExempt && (table.kind === 'table' || table.kind === 'partitioned_table');
}

/** What switches row security, or whose rights a view has. */
export function tableRemedies({ object, kind, rowSecurity, runsAs }: AccessTable): readonly Remedy[] {
  if (runsAs !== null) {
    const isCaller = runsAs === 'caller';
    const sql = `alter view ${object} set (security_invoker = ${isCaller ? 'off' : 'on'});`;
    return [{ title: isCaller ? "Read with the owner's rights" : "Read with the caller's rights", sql }];
  }
  if (kind !== 'table' && kind !== 'partitioned_table') return [];
  const word = rowSecurity ? 'disable' : 'enable';
  return [
    {
      title: `${rowSecurity ? 'Disable' : 'Enable'} row security`,
      sql: `alter table ${object} ${word} row level security;`,
    },
  ];
}

/** Whether all of a policy is known: the API answers the beginning of long conditions. */
export function isWhole({ using, check }: AccessPolicy): boolean {
  return ![using, check].some((condition) => condition?.endsWith(' …'));
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

/** Parts of a condition. Texts and quoted names have parentheses that count for nothing. */
export const sqlTokens = /'(?:[^']|'')*'|"(?:[^"]|"")*"|[()]|[^'"()]+/g;

/** The condition without the parentheses that the catalog puts around it. */
export function bare(condition: string): string {
  let depth = 0;
  for (const { 0: token, index } of condition.matchAll(sqlTokens)) {
    if (token === '(') depth += 1;
    else if (token === ')') depth -= 1;
    if (depth === 0)
      return condition.startsWith('(') && index === condition.length - 1 ? condition.slice(1, -1) : condition;
  }
  return condition;
}
