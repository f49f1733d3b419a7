/**
 * Checks of `pgreflect check` for keys of comment directives that have no effect: misspelled ones, and values that mean "off". They
 * are no errors to the gateway, which has to take what pg_graphql takes.
 */
import type { Catalog, CatalogTable, CommentedObject } from '../../catalog/catalog.ts';
import { quoteName, quotePath } from '../../catalog/quote-name.ts';
import { nearestName } from '../../config/nearest-name.ts';
import { columnFix, foreignKeyFix, routineFix, schemaFix, tableFix, typeFix } from '../../model/comment-fix.ts';
import { createContext, type ModelContext, nobody, tablePath } from '../../model/model-context.ts';
import { isObject } from '../../shared/json.ts';
import type { Finding } from './finding.ts';

/** What a key takes: the values of a switch are read loosely, everything else is checked where the directive is read. */
type Kind = 'true' | 'enabled' | 'any';

const known: Readonly<Record<CommentedObject, Readonly<Record<string, Kind>>>> = {
  namespace: { inflect_names: 'true', introspection: 'true', max_rows: 'any', extensions: 'any', ignore: 'any' },
  table: {
    name: 'any', description: 'any', totalCount: 'enabled', aggregate: 'enabled', primary_key_columns: 'any',
    foreign_keys: 'any', max_rows: 'any', ignore: 'any',
  }, // biome-ignore format: a table of names
  column: { name: 'any', description: 'any' },
  constraint: { foreign_name: 'any', local_name: 'any' },
  routine: { name: 'any', description: 'any', ignore: 'any' },
  type: { name: 'any', mappings: 'any' },
};
const ofDomain = { opaque: 'true' } as const;

/** A commented object, and how its comment is changed. */
interface Commented {
  readonly place: readonly [kind: CommentedObject, oid: string, column?: number];
  readonly object: string;
  /** Those of its kind unless given. */
  readonly keys?: Readonly<Record<string, Kind>>;
  fix(keys: Readonly<Record<string, unknown>>): string | null;
}

/** Keys without an effect, each with the nearest name or value that has one. */
export function checkDirectives(catalog: Catalog): readonly Finding[] {
  const context = createContext(catalog, nobody, null);
  return [
    ...commentedObjects(context).flatMap((commented) => findStrayKeys(catalog, commented)),
    ...catalog.tables.flatMap((table) => findUnknownColumns(context, table)),
  ];
}

function commentedObjects(context: ModelContext): readonly Commented[] {
  const { catalog } = context;
  const pathOf = (namespace: string, name: string) => quotePath(catalog.namespace(namespace)?.nspname ?? '', name);
  return [
    ...catalog.namespaces.map(
      ({ _id, nspname }): Commented => ({
        place: ['namespace', _id],
        object: quoteName(nspname),
        fix: (keys) => schemaFix(context, { oid: _id, name: nspname }, keys),
      }),
    ),
    ...catalog.tables.map(
      (row): Commented => ({
        place: ['table', row._id],
        object: tablePath(context, row),
        fix: (keys) => tableFix(context, row, keys),
      }),
    ),
    ...catalog.tables.flatMap((row) =>
      row.getAttributes().map(
        ({ attnum, attname }): Commented => ({
          place: ['column', row._id, attnum],
          object: `${tablePath(context, row)}.${quoteName(attname)}`,
          fix: (keys) => columnFix(context, row, attname, keys),
        }),
      ),
    ),
    ...catalog.foreignKeys.map(({ _id, conname, conrelid }): Commented => {
      const local = catalog.table(conrelid);
      const object = `${quoteName(conname)} on ${local === undefined ? 'a table of another schema' : tablePath(context, local)}`;
      return { place: ['constraint', _id], object, fix: (keys) => foreignKeyFix(context, _id, keys) };
    }),
    ...catalog.routines.map(
      (row): Commented => ({
        place: ['routine', row._id],
        object: pathOf(row.pronamespace, row.proname),
        fix: (keys) => routineFix(context, row._id, keys),
      }),
    ),
    ...[...catalog.enums, ...catalog.domains].map(({ _id, typname, typnamespace, typtype }): Commented => {
      const type = { oid: _id, namespace: catalog.namespace(typnamespace)?.nspname ?? '', name: typname };
      return {
        place: ['type', _id],
        object: pathOf(typnamespace, typname),
        ...(typtype === 'd' && { keys: ofDomain }),
        fix: (keys) => typeFix(context, type, keys),
      };
    }),
  ];
}

function findStrayKeys(catalog: Catalog, { place, object, fix, keys }: Commented): readonly Finding[] {
  const directive = catalog.directive(...place);
  if (directive.kind !== 'directive') return [];
  const kinds = keys ?? known[place[0]];
  return Object.entries(directive.value).flatMap(([key, value]): readonly Finding[] => {
    const message = `The comment directive of ${object}`;
    const kind = Object.hasOwn(kinds, key) ? kinds[key] : undefined;
    if (kind === undefined) {
      const nearest = nearestName(key, Object.keys(kinds)) ?? nearestName(toSnakeCase(key), Object.keys(kinds));
      const meant = nearest === null ? '' : ` Did you mean "${nearest}"?`;
      const corrected = nearest !== null && !Object.hasOwn(directive.value, nearest);
      return [
        {
          ...{ check: 'directive_key', severity: 'warning', object },
          message: `${message} has the unknown key "${key}", which has no effect.${meant}`,
          fix: corrected ? fix({ [key]: undefined, [nearest]: meantBy(kinds[nearest]!, value) }) : null,
        },
      ];
    }
    if (kind === 'any' || meansSomething(kind, value)) return [];
    const wanted = kind === 'true' ? 'true' : '{"enabled": true}';
    return [
      {
        ...{ check: 'directive_value', severity: 'warning', object },
        message: `${message} has ${JSON.stringify(value)} for "${key}", which means off. To switch it on, write ${wanted}.`,
        fix: meantBy(kind, value) === value ? null : fix({ [key]: meantBy(kind, value) }),
      },
    ];
  });
}

function toSnakeCase(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replaceAll('-', '_');
}

/** Off on purpose counts. */
function meansSomething(kind: Kind, value: unknown): boolean {
  if (kind === 'true') return value === true || value === false;
  const enabled = isObject(value) ? value.enabled : undefined;
  return [true, false, 'true', 'false'].includes(enabled as never);
}

/** The value that says what this one seems to mean; itself where that is open. */
function meantBy(kind: Kind, value: unknown): unknown {
  const plain = isObject(value) ? value.enabled : value;
  const isOn = plain === true || ['true', 'on', 'yes', '1'].includes(String(plain).toLowerCase());
  if (kind === 'any' || meansSomething(kind, value) || !isOn) return value;
  return kind === 'true' ? true : { enabled: true };
}

/** Columns in a key that the table does not have: such a key does not count. */
function findUnknownColumns(context: ModelContext, table: CatalogTable): readonly Finding[] {
  const directive = context.catalog.directive('table', table._id);
  const columns = directive.kind === 'directive' ? directive.value.primary_key_columns : undefined;
  if (!Array.isArray(columns) || !columns.every((column) => typeof column === 'string')) return [];
  const names = table.getAttributes().map(({ attname }) => attname);
  return columns
    .filter((column) => !names.includes(column))
    .map((column): Finding => {
      const [object, nearest] = [tablePath(context, table), nearestName(column, names)];
      const keys = { primary_key_columns: columns.map((name) => (name === column ? nearest : name)) };
      return {
        ...{ check: 'directive_column', severity: 'warning', object },
        message: `The comment directive of ${object} names the column "${column}", which does not exist, so its key does not count.${nearest === null ? '' : ` Did you mean "${nearest}"?`}`,
        fix: nearest === null ? null : tableFix(context, table, keys),
      };
    });
}
