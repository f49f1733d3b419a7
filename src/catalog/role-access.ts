/**
 * What roles may do with the objects of a catalog: from access lists and memberships of one snapshot to the answers of
 * PostgreSQL's inquiry functions (`has_table_privilege` and the like), which look at the newest catalog and would answer for
 * objects that are no longer those of the snapshot.
 *
 * Many objects share one access list, so a list is looked through once for a role.
 */
import type { Privilege, RoleAccess } from './catalog.ts';

/** Oid of an object and the number of its access list. */
interface Listed {
  readonly _id: string;
  readonly list: number;
}

/** The part of what sql/catalog.sql reads that privileges follow from. */
export interface AccessRows {
  readonly namespaces: readonly Listed[];
  readonly classes: readonly Listed[];
  readonly procs: readonly Listed[];
  readonly types: readonly Listed[];
  /** Of columns that have one: table, number, list. */
  readonly column_lists: readonly (readonly [string, number, number])[];
  /** By number: grantees, `0` is PUBLIC, and the bits of what they may do. */
  readonly lists: readonly (readonly (readonly [string, number])[])[];
  /** Oid, name, superuser. */
  readonly roles: readonly (readonly [string, string, boolean])[];
  /** Members, and roles whose privileges they have; direct ones. */
  readonly memberships: readonly (readonly [string, string])[];
  /** Role, setting, value. */
  readonly role_settings: readonly (readonly [string, string, string])[];
}

const bits = { select: 1, insert: 2, update: 4, delete: 8, usage: 16, execute: 32 } as const;
/** What predefined roles may do in addition: with every table, and with every namespace. */
const predefined = [
  { name: 'pg_read_all_data', ofTables: bits.select, ofNamespaces: bits.usage },
  { name: 'pg_write_all_data', ofTables: bits.insert | bits.update | bits.delete, ofNamespaces: bits.usage },
] as const;

/** Access of each role, by name. */
export function readAccess(rows: AccessRows): ReadonlyMap<string, RoleAccess> {
  const shared = share(rows);
  return new Map(rows.roles.map(([oid, name, superuser]) => [name, new Access(shared, oid, superuser)]));
}

/** What is the same for all roles: numbers of access lists by oid, and what roles have. */
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

  /** Whether an access list gives a privilege. @param all Where roles may have it whatever the lists say. */
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

/** What is granted to one role, by itself, through others, or to PUBLIC. */
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
