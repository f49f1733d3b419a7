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
  /** Oid, name, superuser, bypasses row security. */
  readonly roles: readonly (readonly [string, string, boolean, boolean])[];
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
const everything = 63;

/** Access of each role, by name. */
export function readAccess(rows: AccessRows): ReadonlyMap<string, RoleAccess> {
  const shared = new Shared(rows);
  return new Map(
    rows.roles.map(([oid, name, superuser, bypassesRowSecurity]) => [
      name,
      new Access(shared, { oid, superuser, bypassesRowSecurity }),
    ]),
  );
}

/** What is the same for all roles. */
class Shared {
  readonly lists: AccessRows['lists'];
  readonly namespaces: ReadonlyMap<string, number>;
  readonly tables: ReadonlyMap<string, number>;
  readonly routines: ReadonlyMap<string, number>;
  readonly types: ReadonlyMap<string, number>;
  readonly columns = new Map<string, Map<number, number>>();
  readonly settings = new Map<string, Map<string, string>>();
  readonly #memberships = new Map<string, string[]>();
  readonly #predefined = new Map<string, (typeof predefined)[number]>();

  constructor(rows: AccessRows) {
    this.lists = rows.lists;
    const byOid = (listed: readonly Listed[]) => new Map(listed.map(({ _id, list }) => [_id, list]));
    this.namespaces = byOid(rows.namespaces);
    this.tables = byOid(rows.classes);
    this.routines = byOid(rows.procs);
    this.types = byOid(rows.types);
    for (const [table, number, list] of rows.column_lists) inside(this.columns, table).set(number, list);
    for (const [role, name, value] of rows.role_settings) inside(this.settings, role).set(name, value);
    for (const [member, role] of rows.memberships) {
      const known = this.#memberships.get(member);
      if (known === undefined) this.#memberships.set(member, [role]);
      else known.push(role);
    }
    for (const [oid, name] of rows.roles) {
      const found = predefined.find((each) => each.name === name);
      if (found) this.#predefined.set(oid, found);
    }
  }

  /** The role and all whose privileges it has. */
  privilegesOf(role: string): ReadonlySet<string> {
    const found = new Set([role]);
    for (const each of found) for (const next of this.#memberships.get(each) ?? []) found.add(next);
    return found;
  }

  /** Bits that the roles give for all tables and all namespaces, whatever the access lists say. */
  predefinedBits(roles: ReadonlySet<string>): { readonly ofTables: number; readonly ofNamespaces: number } {
    let [ofTables, ofNamespaces] = [0, 0];
    for (const role of roles) {
      const given = this.#predefined.get(role);
      ofTables |= given?.ofTables ?? 0;
      ofNamespaces |= given?.ofNamespaces ?? 0;
    }
    return { ofTables, ofNamespaces };
  }
}

class Access implements RoleAccess {
  readonly oid: string;
  readonly superuser: boolean;
  readonly bypassesRowSecurity: boolean;
  readonly #shared: Shared;
  #granted: Granted | null = null;

  constructor(shared: Shared, facts: Pick<RoleAccess, 'oid' | 'superuser' | 'bypassesRowSecurity'>) {
    this.#shared = shared;
    this.oid = facts.oid;
    this.superuser = facts.superuser;
    this.bypassesRowSecurity = facts.bypassesRowSecurity;
  }

  get settings(): ReadonlyMap<string, string> {
    return this.#shared.settings.get(this.oid) ?? new Map();
  }

  usesNamespace(namespace: string): boolean {
    const list = this.#shared.namespaces.get(namespace);
    return list !== undefined && ((this.#bits(list) | this.#all().ofNamespaces) & bits.usage) !== 0;
  }

  hasTable(table: string, privilege: Privilege): boolean {
    const list = this.#shared.tables.get(table);
    return list !== undefined && ((this.#bits(list) | this.#all().ofTables) & bits[privilege]) !== 0;
  }

  hasColumn(table: string, column: number, privilege: Exclude<Privilege, 'delete'>): boolean {
    if (this.hasTable(table, privilege)) return true;
    return (this.#bits(this.#shared.columns.get(table)?.get(column)) & bits[privilege]) !== 0;
  }

  executes(routine: string): boolean {
    return (this.#bits(this.#shared.routines.get(routine)) & bits.execute) !== 0;
  }

  usesType(type: string): boolean {
    return (this.#bits(this.#shared.types.get(type)) & bits.usage) !== 0;
  }

  #bits(list: number | undefined): number {
    if (list === undefined) return 0;
    return this.superuser ? everything : this.#all().bitsOf(list);
  }

  #all(): Granted {
    this.#granted ??= new Granted(this.#shared, this.oid);
    return this.#granted;
  }
}

/** What is granted to one role, by itself, through others, or to PUBLIC. */
class Granted {
  readonly ofTables: number;
  readonly ofNamespaces: number;
  readonly #lists: AccessRows['lists'];
  readonly #grantees: ReadonlySet<string>;
  readonly #known: (number | undefined)[] = [];

  constructor(shared: Shared, role: string) {
    const roles = shared.privilegesOf(role);
    const { ofTables, ofNamespaces } = shared.predefinedBits(roles);
    this.ofTables = ofTables;
    this.ofNamespaces = ofNamespaces;
    this.#lists = shared.lists;
    this.#grantees = new Set([...roles, '0']);
  }

  bitsOf(list: number): number {
    const known = this.#known[list];
    if (known !== undefined) return known;
    let found = 0;
    for (const [grantee, given] of this.#lists[list] ?? []) if (this.#grantees.has(grantee)) found |= given;
    this.#known[list] = found;
    return found;
  }
}

function inside<K, V>(maps: Map<string, Map<K, V>>, key: string): Map<K, V> {
  const known = maps.get(key) ?? new Map<K, V>();
  maps.set(key, known);
  return known;
}
