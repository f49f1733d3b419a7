/**
 * From the JSON text of sql/catalog.sql to a `Catalog`: parsed and linked by pg-introspection, indexed for the model.
 */
import { type Introspection, parseIntrospectionResults } from 'pg-introspection';
import type { Catalog, CommentedObject, RoleAccess } from './catalog.ts';
import { type CommentDirective, parseCommentDirective } from './comment-directive.ts';
import type { AccessObjects } from './role-access.ts';

/** The keys that sql/catalog.sql adds to the shape of pg-introspection. */
interface FurtherKeys {
  readonly exposed: readonly string[];
  readonly column_defaults: readonly (readonly [string, number, string])[];
  readonly routine_defaults: readonly (readonly [string, string])[];
  readonly declared_types: readonly (readonly [string, number, string])[];
}

const noDirective: CommentDirective = { kind: 'none' };

const commentedCatalogs: Readonly<Record<string, CommentedObject>> = {
  pg_namespace: 'namespace',
  pg_class: 'table',
  pg_constraint: 'constraint',
  pg_proc: 'routine',
  pg_type: 'type',
};

/**
 * Builds the catalog.
 *
 * @param readAccess Reads the privileges on the objects that were found; the only part that touches the database.
 */
export async function assembleCatalog(
  text: string,
  parts: Pick<Catalog, 'snapshot' | 'fingerprint' | 'watched' | 'memberships'>,
  readAccess: (objects: AccessObjects) => Promise<ReadonlyMap<string, RoleAccess>>,
): Promise<Catalog> {
  const source = parseIntrospectionResults(text, true) as Introspection & FurtherKeys;
  const exposed = new Set(source.exposed);
  const tables = new Map(source.classes.map((row) => [row._id, row]));
  const types = new Map(source.types.map((row) => [row._id, row]));
  const namespaces = new Map(source.namespaces.map((row) => [row._id, row]));
  const directives = parseDirectives(source);
  const columnDefaults = byColumn(source.column_defaults);
  const declaredTypes = byColumn(source.declared_types);
  const routineDefaults = new Map(source.routine_defaults);
  const ownedColumns = new Set(source.depends.map((row) => `${row.refobjid}|${row.refobjsubid}`));
  const roles = await readAccess({
    namespaces: [...namespaces.keys()],
    tables: [...tables.keys()],
    routines: source.procs.map((row) => row._id),
    types: [...types.keys()],
  });
  const enumsOf = (namespace: string) =>
    source.types.filter((row) => row.typtype === 'e' && row.typnamespace === namespace);
  return {
    ...parts,
    namespaces: source.namespaces.filter((row) => exposed.has(row._id)),
    tables: source.classes,
    foreignKeys: source.constraints,
    routines: source.procs,
    enums: source.exposed.flatMap(enumsOf),
    table: (oid) => tables.get(oid),
    type: (oid) => types.get(oid),
    namespace: (oid) => namespaces.get(oid),
    directive: (kind, oid, column) => directives.get(directiveKey(kind, oid, column ?? 0)) ?? noDirective,
    columnDefault: (table, column) => columnDefaults.get(`${table}|${column}`) ?? null,
    ownsSequence: (table, column) => ownedColumns.has(`${table}|${column}`),
    declaredType: (table, column) => declaredTypes.get(`${table}|${column}`) ?? null,
    routineDefaults: (routine) => routineDefaults.get(routine) ?? null,
    roles,
  };
}

function byColumn(rows: readonly (readonly [string, number, string])[]): ReadonlyMap<string, string> {
  return new Map(rows.map(([table, column, value]) => [`${table}|${column}`, value]));
}

function parseDirectives(source: Introspection): ReadonlyMap<string, CommentDirective> {
  const found = new Map<string, CommentDirective>();
  for (const row of source.descriptions) {
    const object = commentedCatalogs[source.catalog_by_oid[row.classoid] ?? ''];
    const directive = parseCommentDirective(row.description);
    if (object === undefined || directive.kind === 'none') continue;
    const kind = object === 'table' && row.objsubid > 0 ? 'column' : object;
    found.set(directiveKey(kind, row.objoid, row.objsubid), directive);
  }
  return found;
}

function directiveKey(kind: CommentedObject, oid: string, column: number): string {
  return `${kind}|${oid}|${column}`;
}
