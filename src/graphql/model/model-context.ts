/** Shared by all steps of building a model: catalog, privileges, namespaces, and what was left out and why. */
import type { ExtensionName } from '../../config/extensions.ts';
import type { Catalog, CatalogTable, RoleAccess } from '../catalog/catalog.ts';
import { quotePath } from '../catalog/quote-name.ts';
import { readSettings } from './comments/directive-settings.ts';
import type { ModelNamespace, TableKind } from './model.ts';
import { type Keep, keepNothing, type ModelMemory } from './model-memory.ts';

/** A namespace with its directive applied. */
export interface ContextNamespace extends ModelNamespace {
  readonly oid: string;
  readonly maxRows: number;
  /** Its tables have these fields, unless their own comments say otherwise (extension `reads`). */
  readonly totalCount: boolean;
  readonly aggregate: boolean;
  /** Big numbers are texts in aggregates, too (extension `reads`). */
  readonly exactNumbers: boolean;
  /** The role may use it. */
  readonly exposed: boolean;
}

/**
 * Rank of a namespace in the operator's order. Objects never take a name from an earlier namespace: a user
 * who may create objects in one exposed schema must not affect others' names.
 */
export function rankOf({ namespaces }: ModelContext, oid: string): number {
  return [...namespaces.keys()].indexOf(oid);
}

/** An object left out of the schema, with the reason. */
export interface Omission {
  /**
   * Why it is missing: a missing grant or key, an unusable name, a type or signature, a broken directive, a command or
   * lookup that PostgreSQL or the key's type does not allow, a switch that is off by default, a comment that hides it, or a
   * junction table without a directive.
   */
  readonly kind: 'privilege' | 'key' | 'name' | 'type' | 'directive' | 'entrypoint' | 'switch' | 'link';
  /** Its qualified SQL name, `lib.loan` or `lib.loan.fee`. */
  readonly object: string;
  /** GraphQL and SQL names for searching it; those of a field with its type, `Loan.fee`. */
  readonly names: readonly string[];
  /** A sentence for operators, for example `Table lib.log has no primary key.` */
  readonly reason: string;
  /** SQL that changes it, null for none. */
  readonly fix: string | null;
  /** For kind `privilege`: what the role lacks. */
  readonly grant?: Grant;
}

/** A privilege on an object. */
export interface Grant {
  /** `SELECT`, or several with commas between them. */
  readonly privileges: string;
  readonly on: 'table' | 'routine' | 'schema' | 'type';
  /** Its SQL name. */
  readonly name: string;
  /** Of a table; null: the whole object. */
  readonly column: string | null;
}

/** Why something is left out, and the fix. */
export type Reason = Pick<Omission, 'kind' | 'reason' | 'fix' | 'grant'>;

/** Shared by the steps of one build. */
export interface ModelContext {
  readonly catalog: Catalog;
  readonly role: string;
  readonly access: RoleAccess;
  /** All namespaces exposed by the operator, by oid, in path order; `exposed` tells which the role may use. */
  readonly namespaces: ReadonlyMap<string, ContextNamespace>;
  /** The same by name. */
  readonly namespaceNames: ReadonlyMap<string, ContextNamespace>;
  /** Collected while the model is built; null: not needed. */
  readonly omissions: Omission[] | null;
  readonly keep: Keep;
}

/** Whether the extension is on for the namespace of a table or routine. */
export function hasExtension(
  { namespaceNames }: ModelContext,
  object: { readonly namespace: string },
  extension: ExtensionName,
): boolean {
  return namespaceNames.get(object.namespace)?.extensions.includes(extension) === true;
}

/** Records an omission, if they are collected. */
export function noteOmission({ omissions }: ModelContext, omission: () => Omission): void {
  omissions?.push(omission());
}

/** The reason for an omission whose GraphQL name something else has. @param wanted The name, as `the type "Loan"`. */
export function takenBy(holder: string, subject: string, wanted: string): string {
  return `${subject} would have ${wanted}, and ${holder} has that name already.`;
}

const defaultMaxRows = 30;

const noAccess: RoleAccess = {
  settings: new Map(),
  sources: '',
  usesNamespace: () => false,
  hasTable: () => false,
  hasColumn: () => false,
  executes: () => false,
  drawsNumbers: () => false,
  usesType: () => false,
};

/** The role and options of a model. */
export interface ModelOptions {
  readonly role: string;
  /** Extensions of the API, unless a schema's directive sets others. */
  readonly extensions: readonly ExtensionName[];
}

/** A comment without a directive, as a description, if the namespace has the extension `reads`; otherwise null. */
export function plainComment(
  { catalog }: ModelContext,
  { extensions }: ContextNamespace,
  ...address: readonly ['table' | 'column', oid: string, column?: number]
): string | null {
  if (!extensions.includes('reads') || catalog.directive(...address).kind !== 'none') return null;
  return catalog.comment(...address)?.trim() || null;
}

/** For reading only comments and names. */
export const commentsOnly: ModelOptions = { role: '', extensions: [] };

/** The context of one build. An unknown role has no privileges. */
export function createContext(
  catalog: Catalog,
  { role, extensions }: ModelOptions,
  omissions: Omission[] | null,
  memory: ModelMemory | null = null,
): ModelContext {
  const access = catalog.roles.get(role) ?? noAccess;
  const keep = memory?.begin([catalog.common, role, access.sources, extensions.join()]) ?? keepNothing;
  const namespaces = new Map(
    catalog.namespaces.map((row) => {
      const { settings } = readSettings(catalog, 'namespace', row._id);
      const exposed = access.usesNamespace(row._id);
      const own = settings.extensions ?? extensions;
      const hasReads = own.includes('reads');
      const resolved = {
        maxRows: settings.maxRows ?? defaultMaxRows,
        extensions: own,
        totalCount: hasReads && settings.totalCount === true,
        aggregate: hasReads && settings.aggregate === true,
        exactNumbers: hasReads && settings.numbers === 'text',
        jsonValues: hasReads && settings.json === 'value',
      };
      const made = { ...settings, ...resolved, oid: row._id, name: row.nspname, exposed };
      return [row._id, keep.part('namespace', row._id, [], (): ContextNamespace => made)];
    }),
  );
  const namespaceNames = new Map(namespaces.values().map((namespace) => [namespace.name, namespace]));
  return { catalog, role, access, namespaces, namespaceNames, omissions, keep };
}

const kinds: Readonly<Record<string, TableKind>> = {
  r: 'table',
  p: 'partitioned_table',
  v: 'view',
  m: 'materialized_view',
  f: 'foreign_table',
};

/** Kind of a table. */
export function tableKind(table: CatalogTable): TableKind {
  return kinds[table.relkind] as TableKind;
}

/** Whether tables of its kind may be exposed: partitioned ones only with the extension `reads`. */
export function offersTable({ namespaces }: Pick<ModelContext, 'namespaces'>, table: CatalogTable): boolean {
  return (
    tableKind(table) !== 'partitioned_table' ||
    namespaces.get(table.relnamespace)?.extensions.includes('reads') === true
  );
}

/** `Table lib.loan`, `Materialized view lib.stats`: the start of sentences for operators. */
export function describeTable(context: ModelContext, table: CatalogTable): string {
  const kind = tableKind(table).replaceAll('_', ' ');
  return `${kind.charAt(0).toUpperCase()}${kind.slice(1)} ${tablePath(context, table)}`;
}

/** `lib.loan`, quoted where SQL needs it. */
export function tablePath(context: ModelContext, table: CatalogTable): string {
  return pathIn(context.catalog, table.relnamespace, table.relname);
}

/** The qualified name of an object, from its namespace's oid. */
export function pathIn(catalog: Catalog, namespace: string, name: string): string {
  return quotePath(catalog.namespace(namespace)?.nspname ?? '', name);
}
