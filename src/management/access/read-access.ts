/**
 * Reads who may do what with the exposed tables: one statement for all tables and roles (sql/access.sql).
 *
 * Privileges are PostgreSQL's own answers; which policies decide follows from its rules: a role needs one permissive
 * policy for the command, and every restrictive one narrows it.
 */
import type { SystemPool } from '../../postgres/system/run-system.ts';
import { loadSqlFile } from '../../postgres/system/sql-file.ts';
import { portableSql } from '../../shared/portable-sql.ts';
import type { AccessOverview, AccessPolicy, AccessRight, AccessTable } from './access-schemas.ts';
import { withoutUser } from './signed-in-only.ts';
import { unreadKey } from './unread-key.ts';

const exposedNamesStatement = loadSqlFile('exposed-names.sql');
const accessStatement = loadSqlFile('access.sql');

/** Time limit: a hundred times the duration for 1,000 tables. */
const maxReadMs = 30_000;
/** Whoever owns a view may hold a lock on it for long. */
const maxLockMs = 3000;

type Command = 'select' | 'insert' | 'update' | 'delete';

const kinds = { r: 'table', p: 'partitioned_table', v: 'view', m: 'materialized_view', f: 'foreign_table' } as const;
const policyCommands = { '*': 'all', r: 'select', a: 'insert', w: 'update', d: 'delete' } as const;
/** As pg_relation_is_updatable() answers. */
const writableBits = { insert: 8, update: 4, delete: 16 } as const;

interface GrantRow {
  /** Columns; true: all of them. */
  readonly on: boolean | readonly string[];
  /** Roles. */
  readonly to: readonly string[];
}

interface RoleRow {
  readonly role: string;
  readonly usage: boolean;
  readonly exempt: boolean;
  readonly grants: Readonly<Record<Command, GrantRow>>;
}

interface PolicyRow extends Omit<AccessPolicy, 'command'> {
  readonly command: keyof typeof policyCommands;
  /** Of the roles that are asked for. */
  readonly appliesTo: readonly string[];
}

interface TableRow {
  readonly schema: string;
  readonly name: string;
  readonly object: string;
  readonly kind: keyof typeof kinds;
  readonly owner: string;
  readonly ownerBypasses: boolean;
  readonly rowSecurity: boolean;
  readonly forced: boolean;
  readonly invoker: boolean;
  readonly writable: number;
  readonly columns: readonly string[];
  readonly uuidColumns: readonly string[];
  readonly indexedColumns: readonly string[];
  readonly otherGrantees: readonly string[];
  readonly references: AccessTable['references'];
  readonly roles: readonly RoleRow[];
  readonly policies: readonly PolicyRow[];
}

interface FunctionRow extends Omit<AccessOverview['functions'][number], 'runsAs'> {
  readonly isDefiner: boolean;
}

interface AccessRow {
  readonly roles: AccessOverview['roles'];
  readonly tables: readonly TableRow[];
  readonly functions: readonly FunctionRow[];
}

/** Of what the overview is. */
interface AccessScope {
  /** Namespaces to expose; null: the login role's search path. */
  readonly schemas: readonly string[] | null;
  /** Those that the database lacks are left out. */
  readonly roles: readonly string[];
  /** The role of callers without a user; null: others have it, too. */
  readonly anon: string | null;
  /** The columns by which the API orders the rows of a table; null: it does not have the table. */
  readonly keyOf: (schema: string, table: string) => readonly string[] | null;
}

/** @throws DatabaseError */
export async function readAccessOverview(
  pool: SystemPool,
  { schemas, roles, anon, keyOf }: AccessScope,
): Promise<AccessOverview> {
  const options = {
    begin: 'begin isolation level read committed read only',
    settings: { lock_timeout: `${maxLockMs}ms` },
    answerWithinMs: maxReadMs,
  };
  const [row] = await pool.transaction(async (tx) => {
    const [, rows] = await Promise.all([
      tx.query(exposedNamesStatement, [schemas]),
      tx.query(accessStatement, [roles]),
    ]);
    return rows;
  }, options);
  const found = row as unknown as AccessRow;
  const overview: AccessOverview = {
    roles: inOrder(found.roles, roles, ({ name }) => name),
    tables: found.tables.map((table) => toTable(table, roles, keyOf(table.schema, table.name))),
    functions: found.functions.map(({ isDefiner, ...routine }) => ({
      ...routine,
      runsAs: isDefiner ? 'owner' : 'caller',
    })),
  };
  return anon === null ? overview : withoutUser(overview, anon);
}

function inOrder<T>(all: readonly T[], order: readonly string[], nameOf: (one: T) => string): readonly T[] {
  return all.toSorted((a, b) => order.indexOf(nameOf(a)) - order.indexOf(nameOf(b)));
}

function toTable(table: TableRow, order: readonly string[], key: readonly string[] | null): AccessTable {
  const { kind, rowSecurity, forced, invoker, policies } = table;
  const {
    schema,
    name,
    object,
    owner,
    ownerBypasses,
    columns,
    uuidColumns,
    indexedColumns,
    otherGrantees,
    references,
  } = table;
  const rights = inOrder(table.roles, order, ({ role }) => role).map((role) => {
    const right = (command: Command) => rightOf(table, role, command);
    return {
      role: role.role,
      isExempt: role.exempt,
      select: asOrdered(right('select'), key),
      insert: right('insert'),
      update: right('update'),
      delete: right('delete'),
    };
  });
  return {
    schema,
    name,
    object,
    kind: kinds[kind],
    owner,
    ownerBypasses,
    columns,
    key,
    uuidColumns,
    indexedColumns,
    otherGrantees,
    references,
    rowSecurity,
    isForced: forced,
    runsAs: kind === 'v' ? (invoker ? 'caller' : 'owner') : null,
    rights,
    policies: policies.map(({ appliesTo: _roles, using, check, ...each }) => ({
      ...each,
      command: policyCommands[each.command],
      using: using && portableSql(using),
      check: check && portableSql(check),
    })),
  };
}

/** Nothing is read of what the API cannot order. */
function asOrdered(right: AccessRight, key: readonly string[] | null): AccessRight {
  if (right.rows === 'none' || unreadKey(key, right.columns).length === 0) return right;
  return { ...right, rows: 'none', lacks: 'key' };
}

function rightOf(
  { writable, policies }: TableRow,
  { role, usage, exempt, grants }: RoleRow,
  command: Command,
): AccessRight {
  const { on: granted, to: grantees } = grants[command];
  const grant = { grantees, ...(Array.isArray(granted) && { columns: granted as readonly string[] }) };
  if (!usage) return { rows: 'none', ...(granted !== false && grant), lacks: 'usage' };
  if (granted === false) return { rows: 'none', lacks: 'grant' };
  if (command !== 'select' && (writable & writableBits[command]) === 0) return { rows: 'none', lacks: 'view' };
  if (exempt) return { rows: 'all', ...grant };
  const deciding = policies.filter(
    (policy) => policy.appliesTo.includes(role) && ['all', command].includes(policyCommands[policy.command]),
  );
  if (!deciding.some(({ isPermissive }) => isPermissive)) return { rows: 'none', ...grant, lacks: 'policy' };
  const isOpen =
    deciding.every(({ isPermissive }) => isPermissive) && deciding.some((policy) => isTrue(policy, command));
  return { rows: isOpen ? 'all' : 'some', ...grant, policies: deciding.map(({ name }) => name) };
}

/** Whether a policy lets every row pass. Without a check, its condition is that of new rows, too. */
function isTrue({ using, check }: PolicyRow, command: Command): boolean {
  if (command === 'insert') return (check ?? using) === 'true';
  return using === 'true' && (command !== 'update' || (check ?? using) === 'true');
}
