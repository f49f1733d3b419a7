/**
 * What every step of building one model shares: the catalog, what the role may do, the namespaces on its path, and the
 * list of what was left out and why.
 */
import type { Catalog, CatalogTable, RoleAccess } from '../catalog/catalog.ts';
import { quotePath } from '../catalog/quote-name.ts';
import type { ExtensionName } from '../config/extensions.ts';
import { builtInTypeNames } from './codecs.ts';
import { readSettings } from './directives.ts';
import type { ModelNamespace, TableKind } from './model.ts';

/** A namespace with its directive applied. */
export interface ContextNamespace extends ModelNamespace {
  readonly oid: string;
  readonly maxRows: number;
  /** The role may use it. */
  readonly exposed: boolean;
}

/**
 * Place of a namespace in the operator's order. What is in one takes no name from what is in an earlier one: whoever may make things in a
 * schema that is exposed beside others decides nothing about theirs.
 */
export function placeOf({ namespaces }: ModelContext, oid: string): number {
  return [...namespaces.keys()].indexOf(oid);
}

/** Something that was left out of the schema, and why. */
export interface Omission {
  /**
   * Why it is missing: a grant, a missing key, a name that cannot be used, a type or signature, a broken directive, a command or lookup
   * that PostgreSQL or the type of the key does not allow, a switch that is off unless a directive says otherwise, links of a junction
   * table of which no directive says that they are.
   */
  readonly kind: 'privilege' | 'key' | 'name' | 'type' | 'directive' | 'entrypoint' | 'switch' | 'link';
  /** What is missing, as a person writes it, `lib.loan` or `lib.loan.fee`. */
  readonly object: string;
  /** The GraphQL and SQL names somebody may look for. */
  readonly names: readonly string[];
  /** A sentence for operators, for example `Table lib.log has no primary key.` */
  readonly reason: string;
  /** SQL that changes it, null where none does. */
  readonly fix: string | null;
}

/** Why something is left out, and what changes that. */
export type Reason = Pick<Omission, 'kind' | 'reason' | 'fix'>;

/** Shared by the steps of one build. */
export interface ModelContext {
  readonly catalog: Catalog;
  readonly role: string;
  readonly access: RoleAccess;
  /** All exposed namespaces of the operator, by oid, in order of the path; `exposed` tells which the role may use. */
  readonly namespaces: ReadonlyMap<string, ContextNamespace>;
  /** Grows while the model is built; null: nobody asks what was left out. */
  readonly omissions: Omission[] | null;
}

/** Notes something that is left out, where somebody asks. */
export function note({ omissions }: ModelContext, omission: () => Omission): void {
  omissions?.push(omission());
}

const defaultMaxRows = 30;

const noAccess: RoleAccess = {
  settings: new Map(),
  usesNamespace: () => false,
  hasTable: () => false,
  hasColumn: () => false,
  executes: () => false,
  usesType: () => false,
};

/** For whom a model is built, and with what. */
export interface ModelOptions {
  readonly role: string;
  /** What the API offers beyond pg_graphql's where the directive of a schema does not say. */
  readonly extensions: readonly ExtensionName[];
}

/** A comment that holds no directive, as a description, where the namespace has that extension; null without one. */
export function plainComment(
  { catalog }: ModelContext,
  { extensions }: ContextNamespace,
  ...place: readonly ['table' | 'column', oid: string, column?: number]
): string | null {
  if (!extensions.includes('descriptions') || catalog.directive(...place).kind !== 'none') return null;
  return catalog.comment(...place)?.trim() || null;
}

/** For reading comments and names alone. */
export const nobody: ModelOptions = { role: '', extensions: [] };

/** The context of one build. A role that the catalog does not know may do nothing. */
export function createContext(
  catalog: Catalog,
  { role, extensions }: ModelOptions,
  omissions: Omission[] | null,
): ModelContext {
  const access = catalog.roles.get(role) ?? noAccess;
  const namespaces = new Map(
    catalog.namespaces.map((row): [string, ContextNamespace] => {
      const { settings } = readSettings(catalog, 'namespace', row._id);
      const exposed = access.usesNamespace(row._id);
      const own = {
        maxRows: settings.maxRows ?? defaultMaxRows,
        extensions: settings.extensions ?? extensions,
      };
      return [row._id, { ...settings, ...own, oid: row._id, name: row.nspname, exposed }];
    }),
  );
  return { catalog, role, access, namespaces, omissions };
}

const kinds: Readonly<Record<string, TableKind>> = {
  r: 'table',
  v: 'view',
  m: 'materialized_view',
  f: 'foreign_table',
};

/** Kind of a table that may be exposed; null for the parent of partitions. */
export function tableKind(table: CatalogTable): TableKind | null {
  return kinds[table.relkind] ?? null;
}

/** `Table lib.loan`, `Materialized view lib.stats`: how sentences for operators begin. */
export function describeTable(context: ModelContext, table: CatalogTable): string {
  const kind = (tableKind(table) ?? 'partitioned_table').replaceAll('_', ' ');
  return `${kind.charAt(0).toUpperCase()}${kind.slice(1)} ${tablePath(context, table)}`;
}

/** `lib.loan`, quoted where SQL needs it. */
export function tablePath(context: ModelContext, table: CatalogTable): string {
  return pathIn(context.catalog, table.relnamespace, table.relname);
}

/** The path of something, from the oid of its namespace. */
export function pathIn(catalog: Catalog, namespace: string, name: string): string {
  return quotePath(catalog.namespace(namespace)?.nspname ?? '', name);
}

/**
 * GraphQL type names that are taken, with who has them, as a phrase for a sentence: first come, first served, all names of a thing or
 * none.
 */
export class NameClaims {
  readonly #holders = new Map<string, string>([...builtInTypeNames].map((name) => [name, 'a built-in type']));

  /** Takes all the names for `holder` and returns null, or takes none and returns who has one of them. */
  claim(names: readonly string[], holder: string): string | null {
    const taken = names.find((name) => this.#holders.has(name));
    if (taken !== undefined) return this.#holders.get(taken)!;
    for (const name of names) this.#holders.set(name, holder);
    return null;
  }
}
