/**
 * Computes privileges from access lists and memberships of one snapshot, with the results of PostgreSQL's inquiry
 * functions (`has_table_privilege` and so on). Those read the newest catalog, which may differ from the snapshot.
 *
 * Many objects share an access list, so each list is evaluated once per role.
 */
import type { Privilege, RoleAccess } from './catalog.ts';

/** Oid of an object and the number of its access list. */
interface Listed {
  readonly _id: string;
  readonly list: number;
}

/** The rows of sql/catalog.sql that are always read: of roles, and access lists of tables. */
export interface ChangedAccessRows {
  readonly classes: readonly Listed[];
  /** Columns with access lists: table, number, list. */
  readonly column_lists: readonly (readonly [string, number, number])[];
  /** Table, number of the column that owns the sequence, its name, list. */
  readonly owned_sequences: readonly (readonly [string, number, string | null, number])[];
  /** By number. */
  readonly lists: readonly List[];
  /** Oid, name, superuser. */
  readonly roles: readonly (readonly [string, string, boolean])[];
  /** Members, and the roles whose privileges they directly inherit. */
  readonly memberships: readonly (readonly [string, string])[];
  /** Role, setting, value. */
  readonly role_settings: readonly (readonly [string, string, string])[];
}

/** The same with the access lists of all objects. */
export interface AccessRows extends ChangedAccessRows {
  readonly namespaces: readonly Listed[];
  readonly procs: readonly Listed[];
  readonly types: readonly Listed[];
}

/** An access list: grantees (`0` is PUBLIC) and privilege bits. */
type List = readonly (readonly [string, number])[];

const bits = { select: 1, insert: 2, update: 4, delete: 8, usage: 16, execute: 32 } as const;
/** Additional privileges of predefined roles: on every table, and on every namespace. */
const predefined = [
  { name: 'pg_read_all_data', ofTables: bits.select, ofNamespaces: bits.usage },
  { name: 'pg_write_all_data', ofTables: bits.insert | bits.update | bits.delete, ofNamespaces: bits.usage },
] as const;

/** The access of all roles. */
export interface RolesAccess {
  /** By name. */
  readonly roles: ReadonlyMap<string, RoleAccess>;
  readonly shared: Shared;
}

/** Access of each role. */
export function readAccess(rows: AccessRows): RolesAccess {
  const byOid = (listed: readonly Listed[]) => new Map(listed.map(({ _id, list }) => [_id, rows.lists[list]!]));
  return ofRoles({
    namespaces: byOid(rows.namespaces),
    routines: byOid(rows.procs),
    types: byOid(rows.types),
    ...ofTables(rows),
    ...rolesOf(rows),
  });
}

/** The same after roles and some tables were read again. @param isKept Whether a table is there, and was not read. */
export function renewAccess(
  { shared }: RolesAccess,
  rows: ChangedAccessRows,
  isKept: (table: string) => boolean,
): RolesAccess {
  const { tables, columns, sequences } = ofTables(rows);
  const kept = <T>(lists: ReadonlyMap<string, T>) => [...lists].filter(([table]) => isKept(table));
  return ofRoles({
    ...shared,
    ...rolesOf(rows),
    tables: new Map([...kept(shared.tables), ...tables]),
    columns: new Map([...kept(shared.columns), ...columns]),
    sequences: new Map([...kept(shared.sequences), ...sequences]),
  });
}

/** Shared by all roles: access lists by oid, and role memberships. */
interface Shared extends ReturnType<typeof rolesOf> {
  readonly namespaces: ReadonlyMap<string, List>;
  readonly tables: ReadonlyMap<string, List>;
  readonly routines: ReadonlyMap<string, List>;
  readonly types: ReadonlyMap<string, List>;
  readonly columns: ReadonlyMap<string, ReadonlyMap<number, List>>;
  readonly sequences: ReadonlyMap<string, ReadonlyMap<number, List>>;
}

function rolesOf({ roles, memberships, role_settings: settings }: ChangedAccessRows) {
  return {
    roles,
    settings: byFirst(settings),
    memberships: Map.groupBy(memberships, ([member]) => member),
    predefined: new Map(roles.map(([oid, name]) => [oid, predefined.find((each) => each.name === name)])),
  };
}

function ofTables(rows: ChangedAccessRows): Pick<Shared, 'tables' | 'columns' | 'sequences'> {
  const { classes, column_lists, owned_sequences, lists } = rows;
  return {
    tables: new Map(classes.map(({ _id, list }) => [_id, lists[list]!])),
    columns: byFirst(column_lists.map(([table, column, list]) => [table, column, lists[list]!] as const)),
    sequences: byFirst(owned_sequences.map(([table, column, , list]) => [table, column, lists[list]!] as const)),
  };
}

function byFirst<K, V>(triples: readonly (readonly [string, K, V])[]): ReadonlyMap<string, ReadonlyMap<K, V>> {
  const groups = Map.groupBy(triples, ([first]) => first);
  return new Map([...groups].map(([first, of]) => [first, new Map(of.map(([, k, v]) => [k, v]))]));
}

function ofRoles(shared: Shared): RolesAccess {
  return { shared, roles: new Map(shared.roles.map(([oid, name, isAll]) => [name, new Access(shared, oid, isAll)])) };
}

class Access implements RoleAccess {
  readonly #shared: Shared;
  readonly #oid: string;
  readonly #superuser: boolean;
  #granted: Granted | null = null;

  constructor(shared: Shared, oid: string, superuser: boolean) {
    this.#shared = shared;
    this.#oid = oid;
    this.#superuser = superuser;
  }

  get settings(): ReadonlyMap<string, string> {
    return this.#shared.settings.get(this.#oid) ?? new Map();
  }

  get sources(): string {
    const { grantees, ofTables, ofNamespaces } = this.#grants();
    return [this.#superuser, ofTables, ofNamespaces, ...[...grantees].sort()].join();
  }

  usesNamespace(namespace: string): boolean {
    return this.#has(this.#shared.namespaces.get(namespace), bits.usage, 'ofNamespaces');
  }

  hasTable(table: string, privilege: Privilege): boolean {
    return this.#has(this.#shared.tables.get(table), bits[privilege], 'ofTables');
  }

  hasColumn(table: string, column: number, privilege: Exclude<Privilege, 'delete'>): boolean {
    return this.hasTable(table, privilege) || this.#has(this.#shared.columns.get(table)?.get(column), bits[privilege]);
  }

  drawsNumbers(table: string, column: number): boolean {
    return this.#has(this.#shared.sequences.get(table)?.get(column), bits.usage | bits.update);
  }

  executes(routine: string): boolean {
    return this.#has(this.#shared.routines.get(routine), bits.execute);
  }

  usesType(type: string): boolean {
    return this.#has(this.#shared.types.get(type), bits.usage);
  }

  #grants(): Granted {
    this.#granted ??= grantedTo(this.#shared, this.#oid);
    return this.#granted;
  }

  /** Whether an access list grants a privilege. @param all Where a predefined role may have it regardless of lists. */
  #has(list: List | undefined, bit: number, all: 'ofTables' | 'ofNamespaces' | null = null): boolean {
    if (list === undefined) return false;
    if (this.#superuser) return true;
    const granted = this.#grants();
    let given = granted.known.get(list);
    if (given === undefined) {
      given = 0;
      for (const [grantee, some] of list) if (granted.grantees.has(grantee)) given |= some;
      granted.known.set(list, given);
    }
    return ((given | (all === null ? 0 : granted[all])) & bit) !== 0;
  }
}

/** Privileges granted to one role, directly, through memberships, or to PUBLIC. */
interface Granted {
  readonly grantees: ReadonlySet<string>;
  readonly ofTables: number;
  readonly ofNamespaces: number;
  readonly known: Map<List, number>;
}

function grantedTo({ memberships, predefined }: Shared, role: string): Granted {
  const grantees = new Set([role]);
  let [ofTables, ofNamespaces] = [0, 0];
  for (const each of grantees) {
    for (const [, next] of memberships.get(each) ?? []) grantees.add(next);
    ofTables |= predefined.get(each)?.ofTables ?? 0;
    ofNamespaces |= predefined.get(each)?.ofNamespaces ?? 0;
  }
  return { grantees: grantees.add('0'), ofTables, ofNamespaces, known: new Map() };
}
