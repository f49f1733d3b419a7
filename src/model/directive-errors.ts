/**
 * Looks for comment directives that are malformed, whatever the role may use of the commented objects.
 *
 * Only the exposed namespaces of the role count. The first one makes every request of the role fail: ignoring a broken
 * directive could enable what its author wanted off.
 */
import type { CatalogTable } from '../catalog/catalog.ts';
import { quoteName, quotePath } from '../catalog/quote-name.ts';
import { readSettings } from './directives.ts';
import type { DirectiveError } from './model.ts';
import { type ModelContext, tableKind, tablePath } from './model-context.ts';

/** Every malformed directive that counts for the role: namespaces, tables and columns, routines, foreign keys, enums. */
export function findDirectiveErrors(context: ModelContext): readonly DirectiveError[] {
  return [
    ...namespaceErrors(context),
    ...tableErrors(context),
    ...routineErrors(context),
    ...foreignKeyErrors(context),
    ...typeErrors(context),
  ];
}

function isExposed(context: ModelContext, namespace: string): boolean {
  return context.namespaces.get(namespace)?.exposed === true;
}

function isExposedTable(context: ModelContext, table: CatalogTable | undefined): table is CatalogTable {
  return table !== undefined && tableKind(table) !== null && isExposed(context, table.relnamespace);
}

function toErrors(object: string, problem: string | null, visible: () => boolean): readonly DirectiveError[] {
  return problem === null ? [] : [{ object, problem, visible: visible() }];
}

function namespaceErrors(context: ModelContext): readonly DirectiveError[] {
  const exposed = [...context.namespaces.values()].filter((namespace) => namespace.exposed);
  return exposed.flatMap(({ oid, name }) =>
    toErrors(quoteName(name), readSettings(context.catalog, 'namespace', oid).problem, () => true),
  );
}

function tableErrors(context: ModelContext): readonly DirectiveError[] {
  const { catalog } = context;
  return catalog.tables
    .filter((table) => isExposedTable(context, table))
    .flatMap((table) => {
      const path = tablePath(context, table);
      const own = toErrors(path, readSettings(catalog, 'table', table._id).problem, () => mayUse(context, table));
      const columns = table.getAttributes().flatMap(({ attnum, attname }) => {
        if (catalog.directive('column', table._id, attnum).kind === 'none') return [];
        const { problem } = readSettings(catalog, 'column', table._id, attnum);
        return toErrors(`${path}.${quoteName(attname)}`, problem, () => mayUseColumn(context, table, attnum));
      });
      return [...own, ...columns];
    });
}

function routineErrors(context: ModelContext): readonly DirectiveError[] {
  const { catalog, access } = context;
  return catalog.routines
    .filter((row) => isExposed(context, row.pronamespace))
    .flatMap((row) => {
      const path = quotePath(catalog.namespace(row.pronamespace)?.nspname ?? '', row.proname);
      return toErrors(path, readSettings(catalog, 'routine', row._id).problem, () => access.executes(row._id));
    });
}

function foreignKeyErrors(context: ModelContext): readonly DirectiveError[] {
  const { catalog } = context;
  return catalog.foreignKeys.flatMap((row) => {
    const foreign = catalog.table(row.confrelid);
    if (!isExposedTable(context, foreign)) return [];
    const local = catalog.table(row.conrelid);
    const path = `${quoteName(row.conname)} on ${local ? tablePath(context, local) : 'a table of another schema'}`;
    const { problem } = readSettings(catalog, 'constraint', row._id);
    return toErrors(path, problem, () => local !== undefined && mayUse(context, local));
  });
}

/** Domains have directives where they travel as what they stand on. */
function typeErrors(context: ModelContext): readonly DirectiveError[] {
  const { catalog, access } = context;
  const domains = catalog.domains.filter(({ typnamespace }) =>
    context.namespaces.get(typnamespace)?.extensions.includes('domains'),
  );
  return [...catalog.enums, ...domains]
    .filter((type) => isExposed(context, type.typnamespace))
    .flatMap((type) => {
      const path = quotePath(catalog.namespace(type.typnamespace)?.nspname ?? '', type.typname);
      return toErrors(path, readSettings(catalog, 'type', type._id).problem, () => access.usesType(type._id));
    });
}

function mayUse(context: ModelContext, table: CatalogTable): boolean {
  if (context.access.hasTable(table._id, 'delete')) return true;
  return table.getAttributes().some((column) => mayUseColumn(context, table, column.attnum));
}

function mayUseColumn({ access }: ModelContext, table: CatalogTable, column: number): boolean {
  return (['select', 'insert', 'update'] as const).some((privilege) => access.hasColumn(table._id, column, privilege));
}
