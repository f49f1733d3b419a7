/** The objects with comment directives, including malformed ones, whatever the role may use. */
import { type Sliced, sliceIsOver } from '../../../shared/slices.ts';
import type { CatalogTable, CommentedObject } from '../../catalog/catalog.ts';
import { quoteName } from '../../catalog/quote-name.ts';
import type { DirectiveError } from '../model.ts';
import { type ModelContext, offersTable, pathIn, tablePath } from '../model-context.ts';
import { columnFix, foreignKeyFix, type Keys, routineFix, schemaFix, tableFix, typeFix } from './comment-fix.ts';
import { readSettings } from './directive-settings.ts';

/** An object with a comment directive, even a malformed one. */
export interface DirectiveHolder {
  readonly address: readonly [kind: CommentedObject, oid: string, column?: number];
  /** Its SQL name. */
  readonly object: string;
  /** It applies to the role: its namespace is exposed to the role. */
  readonly isExposed: boolean;
  /** The role has a privilege on it. */
  isVisible(): boolean;
  /** The statement that adds keys to its directive, or with none makes it as it is; null if that would lose something. */
  fix(keys: Keys): string | null;
}

/**
 * All of them: namespaces, tables with their columns, routines, foreign keys, enums and domains.
 *
 * @param isWanted Takes other objects with comments, by their addresses.
 */
export function* directiveHolders(
  context: ModelContext,
  isWanted = (address: DirectiveHolder['address']) => context.catalog.directive(...address).kind !== 'none',
): Sliced<readonly DirectiveHolder[]> {
  const { catalog, access, namespaces } = context;
  const holders: DirectiveHolder[] = [];
  const add = (address: DirectiveHolder['address'], facts: () => Omit<DirectiveHolder, 'address'>) => {
    if (isWanted(address)) holders.push({ address, ...facts() });
  };
  const isExposed = (namespace: string) => namespaces.get(namespace)?.exposed === true;
  const isExposedTable = (table: CatalogTable) => offersTable(context, table) && isExposed(table.relnamespace);
  for (const { _id: oid, nspname: name } of catalog.namespaces) {
    const fix = (keys: Keys) => schemaFix(context, { oid, name }, keys);
    add(['namespace', oid], () => ({ object: quoteName(name), isExposed: isExposed(oid), isVisible: () => true, fix }));
  }
  for (const table of catalog.tables) {
    if (sliceIsOver()) yield;
    const ofTable = () => ({ object: tablePath(context, table), isExposed: isExposedTable(table) });
    const fix = (keys: Keys) => tableFix(context, table, keys);
    add(['table', table._id], () => ({ ...ofTable(), isVisible: () => mayUse(context, table), fix }));
    // Most tables have none.
    const commented = catalog.commentedColumns(table._id);
    const columns = commented === null ? [] : table.getAttributes().filter(({ attnum }) => commented.has(attnum));
    for (const { attnum, attname } of columns)
      add(['column', table._id, attnum], () => ({
        ...ofTable(),
        object: `${tablePath(context, table)}.${quoteName(attname)}`,
        isVisible: () => mayUseColumn(context, table, attnum),
        fix: (keys) => columnFix(context, table, attname, keys),
      }));
  }
  for (const { _id, pronamespace, proname } of catalog.routines) {
    if (sliceIsOver()) yield;
    const facts = { object: pathIn(catalog, pronamespace, proname), isExposed: isExposed(pronamespace) };
    const fix = (keys: Keys) => routineFix(context, _id, keys);
    add(['routine', _id], () => ({ ...facts, isVisible: () => access.executes(_id), fix }));
  }
  for (const { _id, conname, conrelid, confrelid } of catalog.foreignKeys) {
    if (sliceIsOver()) yield;
    add(['constraint', _id], () => {
      const [local, foreign] = [catalog.table(conrelid), catalog.table(confrelid)];
      return {
        object: `${quoteName(conname)} on ${local ? tablePath(context, local) : 'a table of another schema'}`,
        isExposed: foreign !== undefined && isExposedTable(foreign),
        isVisible: () => local !== undefined && mayUse(context, local),
        fix: (keys) => foreignKeyFix(context, _id, new Map([[_id, keys]])),
      };
    });
  }
  for (const type of [...catalog.enums, ...catalog.domains, ...catalog.composites]) {
    const { _id: oid, typname: name, typnamespace, typtype } = type;
    // Directives of domains apply only if domains are exposed as their base types, those of composite types as inputs.
    const extension = typtype === 'd' ? 'reads' : typtype === 'c' ? 'writes' : null;
    const isRead = extension === null || namespaces.get(typnamespace)?.extensions.includes(extension) === true;
    const facts = { object: pathIn(catalog, typnamespace, name), isExposed: isRead && isExposed(typnamespace) };
    const namespace = catalog.namespace(typnamespace)?.nspname ?? '';
    const fix = (keys: Keys) => typeFix(context, { oid, namespace, name }, keys);
    add(['type', oid], () => ({ ...facts, isVisible: () => access.usesType(oid), fix }));
  }
  return holders;
}

/**
 * All malformed directives that apply to the role. The first one fails every request of the role: ignoring a broken
 * directive could enable what its author disabled.
 */
export function* findDirectiveErrors(context: ModelContext): Sliced<readonly DirectiveError[]> {
  const holders = yield* directiveHolders(context);
  return holders.flatMap(({ address, object, isExposed, isVisible, fix }) => {
    const problem = readSettings(context.catalog, ...address).problem ?? extensionProblem(context, address);
    return isExposed && problem !== null ? [{ object, problem, visible: isVisible(), statement: fix({}) }] : [];
  });
}

function extensionProblem(
  { catalog, namespaces }: ModelContext,
  [kind, oid]: DirectiveHolder['address'],
): string | null {
  if (kind !== 'table' && kind !== 'namespace') return null;
  const namespace = namespaces.get(kind === 'table' ? (catalog.table(oid)?.relnamespace ?? '') : oid);
  if (namespace?.extensions.includes('reads') !== true) return null;
  if (kind === 'namespace') {
    const { numbers, json } = readSettings(catalog, kind, oid).settings;
    if (numbers === 'malformed') return '"numbers" must be "text"';
    return json === 'malformed' ? '"json" must be "value" or "string"' : null;
  }
  const { manyToMany, partitions } = readSettings(catalog, kind, oid).settings;
  if (manyToMany === 'malformed')
    return '"many_to_many" must be true, false or an object with the names "from" and "to"';
  return partitions === 'malformed' ? '"partitions" must be "hidden"' : null;
}

function mayUse(context: ModelContext, table: CatalogTable): boolean {
  if (context.access.hasTable(table._id, 'delete')) return true;
  return table.getAttributes().some((column) => mayUseColumn(context, table, column.attnum));
}

function mayUseColumn({ access }: ModelContext, table: CatalogTable, column: number): boolean {
  return (['select', 'insert', 'update'] as const).some((privilege) => access.hasColumn(table._id, column, privilege));
}
