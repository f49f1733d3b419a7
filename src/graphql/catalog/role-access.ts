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

/** The rows of sql/catalog.sql that determine privileges. */
export interface AccessRows {
  readonly namespaces: readonly Listed[];
  readonly classes: readonly Listed[];
  readonly procs: readonly Listed[];
  readonly types: readonly Listed[];
  /** Columns with access lists: table, number, list. */
  readonly column_lists: readonly (readonly [string, number, number])[];
  /** By number: grantees (`0` is PUBLIC) and privilege bits. */
  readonly lists: readonly (readonly (readonly [string, number])[])[];
  /** Oid, name, superuser. */
  readonly roles: readonly (readonly [string, string, boolean])[];
  /** Members, and the roles whose privileges they directly inherit. */
  readonly memberships: readonly (readonly [string, string])[];
  /** Role, setting, value. */
  readonly role_settings: readonly (readonly [string, string, string])[];
}

const bits = { select: 1, insert: 2, update: 4, delete: 8, usage: 16, execute: 32 } as const;
/** Additional privileges of predefined roles: on every table, and on every namespace. */
const predefined = [
  { name: 'pg_read_all_data', ofTables: bits.select, ofNamespaces: bits.usage },
  { name: 'pg_write_all_data', ofTables: bits.insert | bits.update | bits.delete, ofNamespaces: bits.usage },
] as const;

/** Access of each role, by name. */
export function readAccess(rows: AccessRows): ReadonlyMap<string, RoleAccess> {
  const shared = share(rows);
  return new Map(rows.roles.map(([oid, name, superuser]) => [name, new Access(shared, oid, superuser)]));
}

/** Shared by all roles: access list numbers by oid, and role memberships. */
type Shared = ReturnType<typeof share>;

function share(rows: AccessRows) {
  const byOid = (listed: readonly Listed[]) => new Map(listed.map(({ _id, list }) => [_id, list]));
  const byFirst = <K, V>(triples: readonly (readonly [string, K, V])[]) =>
    new Map(
      [...Map.groupBy(triples, ([first]) => first)].map(([first, of]) => [
        first,
        new Map(of.map(([, k, v]) => [k, v])),
      ]),
    );
  return {
    lists: rows.lists,
    namespaces: byOid(rows.namespaces),
    tables: byOid(rows.classes),
    routines: byOid(rows.procs),
    types: byOid(rows.types),
    columns: byFirst(rows.column_lists),
    settings: byFirst(rows.role_settings),
    memberships: Map.groupBy(rows.memberships, ([member]) => member),
    predefined: new Map(rows.roles.map(([oid, name]) => [oid, predefined.find((each) => each.name === name)])),
  };
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

  usesNamespace(namespace: string): boolean {
    return this.#has(this.#shared.namespaces.get(namespace), bits.usage, 'ofNamespaces');
  }

  hasTable(table: string, privilege: Privilege): boolean {
    return this.#has(this.#shared.tables.get(table), bits[privilege], 'ofTables');
  }

  hasColumn(table: string, column: number, privilege: Exclude<Privilege, 'delete'>): boolean {
    return this.hasTable(table, privilege) || this.#has(this.#shared.columns.get(table)?.get(column), bits[privilege]);
  }

  executes(routine: string): boolean {
    return this.#has(this.#shared.routines.get(routine), bits.execute);
  }

  usesType(type: string): boolean {
    return this.#has(this.#shared.types.get(type), bits.usage);
  }

  /** Whether an access list grants a privilege. @param all Where a predefined role may have it regardless of lists. */
  #has(list: number | undefined, bit: number, all: 'ofTables' | 'ofNamespaces' | null = null): boolean {
    if (list === undefined) return false;
    if (this.#superuser) return true;
    this.#granted ??= grantedTo(this.#shared, this.#oid);
    const granted = this.#granted;
    let given = granted.known[list];
    if (given === undefined) {
      given = 0;
      for (const [grantee, some] of this.#shared.lists[list] ?? []) if (granted.grantees.has(grantee)) given |= some;
      granted.known[list] = given;
    }
    return ((given | (all === null ? 0 : granted[all])) & bit) !== 0;
  }
}

/** Privileges granted to one role, directly, through memberships, or to PUBLIC. */
interface Granted {
  readonly grantees: ReadonlySet<string>;
  readonly ofTables: number;
  readonly ofNamespaces: number;
  /** Bits by number of the access list. */
  readonly known: (number | undefined)[];
}

function grantedTo({ memberships, predefined }: Shared, role: string): Granted {
  const grantees = new Set([role]);
  let [ofTables, ofNamespaces] = [0, 0];
  for (const each of grantees) {
    for (const [, next] of memberships.get(each) ?? []) grantees.add(next);
    ofTables |= predefined.get(each)?.ofTables ?? 0;
    ofNamespaces |= predefined.get(each)?.ofNamespaces ?? 0;
  }
  return { grantees: grantees.add('0'), ofTables, ofNamespaces, known: [] };
}
