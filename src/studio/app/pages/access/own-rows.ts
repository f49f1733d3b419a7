/**
 * Whose rows are: those of the caller where the schema says so, by policies, by columns with the ids of users or by foreign keys to
 * such rows. What is found of an overview is kept with it: a page asks for each policy, and each answer may need all of them.
 */
import { quoteName } from '../../../../graphql/catalog/quote-name.ts';
import type { AccessOverview, AccessPolicy, AccessTable } from '../../../../management/access/access-schemas.ts';
import { bare, isWhole, sqlTokens } from '../../../../management/access/conditions.ts';
import { type AccessRole, reachesRows } from './access-words.ts';

/** Whose rows of what. */
interface OwnRowsOf {
  readonly overview: AccessOverview;
  readonly table: AccessTable;
  readonly role: AccessRole;
  /** Callers with this role have no id. */
  readonly anon: string;
}

const caller = '(select auth.uid())';

/** The condition for the caller's own rows; null: the schema does not say whose rows are whose, or the role has no user. */
export function ownRowsFor({ overview: { tables }, table, role, anon }: OwnRowsOf): string | null {
  if (role.name === anon) return null;
  const { conditions } = schemaOf(tables);
  const key = JSON.stringify([role.name, table.object]);
  const known = conditions.get(key);
  if (known !== undefined) return known;
  const found = ownRows({ tables, role: role.name, path: [] }, table);
  conditions.set(key, found);
  return found;
}

/** Whether the policy lets the caller's own rows pass and no others. */
export function isOwn(
  { overview: { tables }, table, role }: Pick<OwnRowsOf, 'overview' | 'table' | 'role'>,
  policy: AccessPolicy,
): boolean {
  return ownCondition({ tables, role: role.name, path: [] }, table, policy) !== null;
}

/** The tables by whose row security alone a condition is about the caller. */
export function leansOn({ tables }: AccessOverview, condition: string | null): readonly string[] {
  if (condition === null || asksForUser(condition)) return [];
  const words = wordsOf(condition);
  return tables.filter(({ object, rowSecurity }) => rowSecurity && words.has(object)).map(({ object }) => object);
}

/** Whether a policy names the role. @param role Null: any. */
export function isOfRole({ roles }: AccessPolicy, role: string | null): boolean {
  return role === null || roles.some((each) => each === role || each === 'public');
}

/** What is found of the tables of an overview. */
interface Schema {
  readonly byObject: ReadonlyMap<string, AccessTable>;
  /** By role and table. */
  readonly conditions: Map<string, string | null>;
  /** Columns that policies compare with the caller, as SQL writes them; null: not looked for. */
  compared: ReadonlySet<string> | null;
}

const schemas = new WeakMap<readonly AccessTable[], Schema>();

function schemaOf(tables: readonly AccessTable[]): Schema {
  const known = schemas.get(tables);
  if (known !== undefined) return known;
  const byObject = new Map(tables.map((table) => [table.object, table]));
  const schema: Schema = { byObject, conditions: new Map(), compared: null };
  schemas.set(tables, schema);
  return schema;
}

function asksForUser(condition: string): boolean {
  return /auth\.uid\(\)|request\.jwt/.test(condition);
}

function wordsOf(condition: string): ReadonlySet<string> {
  return new Set(condition.split(/[\s(),]+/));
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
    const other = schemaOf(tables).byObject.get(reference.object);
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
  return (
    uuidColumns.find(isUser) ??
    others.find((name) => userNames.test(name) || comparedColumns(tables).has(quoteName(name)))
  );
}

const atEnds = /^("(?:[^"]|"")*"|[\w$]+)(?= = )|(?<= = )("(?:[^"]|"")*"|[\w$]+)$/g;

/** The columns that policies of the schema compare with the caller, as SQL writes them. */
function comparedColumns(tables: readonly AccessTable[]): ReadonlySet<string> {
  const schema = schemaOf(tables);
  schema.compared ??= new Set(
    tables.flatMap((table) =>
      table.policies.flatMap(
        (policy) => (ownCondition({ tables, role: null, path: [] }, table, policy) ?? '').match(atEnds) ?? [],
      ),
    ),
  );
  return schema.compared;
}

/** Shapes that say whose a row is, without what is in parentheses. */
const ownShape = /^(?:EXISTS \(\)|[\w."]+ (?:= (?:auth\.uid)?|IN |= ANY )\(\)|(?:auth\.uid)?\(\) = [\w."]+)$/;

/** The condition of a policy that lets the caller's rows pass and no others; null: it is another one, or not the role's. */
function ownCondition(search: Search, table: AccessTable, policy: AccessPolicy): string | null {
  const known = shaped.get(policy);
  const condition = known === undefined ? shapedCondition(table, policy) : known;
  if (known === undefined) shaped.set(policy, condition);
  if (condition === null || !isOfRole(policy, search.role)) return null;
  return asksForUser(condition) || readsOwn(search, table, condition) ? condition : null;
}

const shaped = new WeakMap<AccessPolicy, string | null>();

/** The condition, if its shape says whose a row is. */
function shapedCondition({ name }: AccessTable, policy: AccessPolicy): string | null {
  const { isPermissive, using, check } = policy;
  const text = using ?? check;
  if (!isPermissive || text === null || !isWhole(policy)) return null;
  const condition = bare(text);
  const shape = outline(condition);
  // One that is the same for every row concerns the caller alone.
  const isOfRow = !shape.startsWith('EXISTS') || condition.includes(`${quoteName(name)}.`);
  return ownShape.test(shape) && isOfRow ? condition : null;
}

/** Whether a condition reads a table of which the role sees its own rows alone. */
function readsOwn({ tables, role, path }: Search, table: AccessTable, condition: string): boolean {
  const next = { tables, role, path: [...path, table] };
  if (next.path.length === maxTables) return false;
  const { byObject } = schemaOf(tables);
  return [...wordsOf(condition)].some((word) => {
    const other = byObject.get(word);
    if (other === undefined || !other.rowSecurity || next.path.includes(other)) return false;
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
