/** The columns of a table, and the inputs and aggregates that each takes part in. */
import type { CatalogColumn, CatalogTable } from '../../catalog/catalog.ts';
import { quoteName } from '../../catalog/quote-name.ts';
import { codecOf } from '../codecs.ts';
import { columnFix, validName } from '../comments/comment-fix.ts';
import { readSettings } from '../comments/directive-settings.ts';
import { earlyDefault } from '../extensions/early-defaults.ts';
import { fieldForm, isEnumValueName, isValidName } from '../inflect.ts';
import { missingGrant } from '../missing-grant.ts';
import { type Column, comparedAs, type RoutineResult, type ValueType } from '../model.ts';
import {
  type ContextNamespace,
  type ModelContext,
  noteOmission,
  plainComment,
  type Reason,
  tablePath,
} from '../model-context.ts';
import { type TypeResolver, type TypeResolvers, unmodified } from '../resolve-type.ts';
import { scalarRow } from '../scalars.ts';

/** Every column of the table, in order, including those the role may not use. */
export function buildColumns(
  context: ModelContext,
  namespace: ContextNamespace,
  table: CatalogTable,
  types: TypeResolvers,
): readonly Column[] {
  const [own, plain] = [types(namespace), types(null)];
  const { access } = context;
  const whole = {
    select: access.hasTable(table._id, 'select'),
    insert: access.hasTable(table._id, 'insert'),
    update: access.hasTable(table._id, 'update'),
  };
  const columns = table.getAttributes().map((row) => buildColumn(context, { namespace, table, row, whole }, own));
  if (own === plain) return columns;
  const added = new Set(columns.filter((column) => isAdded(column, plain)));
  return added.size === 0
    ? columns
    : columns.map((column) => (added.has(column) ? placeAdded(column, columns, added) : column));
}

interface ColumnSource {
  readonly namespace: ContextNamespace;
  readonly table: CatalogTable;
  readonly row: CatalogColumn;
  /** Privileges on the whole table. */
  readonly whole: Readonly<Record<'select' | 'insert' | 'update', boolean>>;
}

function buildColumn(context: ModelContext, source: ColumnSource, types: TypeResolver): Column {
  const { catalog, access } = context;
  const { namespace, row, whole } = source;
  const { attrelid: table, attnum: number } = row;
  const { settings } = readSettings(catalog, 'column', table, number);
  const fieldName =
    settings.name === null ? fieldNameOf(namespace, row.attname) : isValidName(settings.name) ? settings.name : null;
  const columnType = columnTypeOf(types, row);
  const { type } = columnType;
  const isUsable = fieldName !== null && type !== null;
  const may = (privilege: 'select' | 'insert' | 'update') =>
    whole[privilege] || access.hasColumn(table, number, privilege);
  const selectable = may('select');
  const readable = isUsable && selectable;
  const isWritable = isUsable && !row.attidentity && !row.attgenerated && !row.ownsSequence;
  const isKey = isUsable && !isWritable && !row.attgenerated && row.attidentity !== 'a';
  const generatedKey = isKey && namespace.extensions.includes('writes');
  return {
    number,
    name: row.attname,
    fieldName,
    description: settings.description ?? plainComment(context, namespace, 'column', table, number),
    type,
    cast: columnType.cast,
    notNull: row.attnotnull === true,
    neverNull: row.attnotnull === true || (source.table.relkind === 'r' && columnType.isNeverNull),
    defaultNullOrder: !row.hasUnusualNullOrder,
    hasNoNulls: row.attnotnull === true && isPlain(source.table) && !row.hasUnusualNullOrder,
    nondeterministicCollation: row.nondeterministicCollation,
    readable,
    filterable: readable && columnType.isFilterable,
    orderable: readable && columnType.isOrdered,
    insertable: (isWritable || generatedKey) && may('insert'),
    updatable: isWritable && may('update'),
    generatedKey,
    selectable,
    added: false,
    // A view's column without a default has the underlying table's, which the catalog does not tell.
    hasDefault: source.table.relkind === 'v' || row.hasDefault || generatedKey,
    earlyDefault: namespace.extensions.includes('writes') ? earlyDefault(row, namespace.name, access) : null,
    sum: readable ? columnType.aggregates.sum : null,
    avg: readable ? columnType.aggregates.avg : null,
    min: readable ? columnType.aggregates.min : null,
    max: readable ? columnType.aggregates.max : null,
    bool: readable ? columnType.aggregates.bool : null,
  };
}

const fieldNames = new WeakMap<ContextNamespace, Map<string, string | null>>();

/** The field name of a column, null if it is no valid one; tables of a database repeat names. */
function fieldNameOf(namespace: ContextNamespace, column: string): string | null {
  const names = fieldNames.get(namespace) ?? new Map<string, string | null>();
  fieldNames.set(namespace, names);
  const known = names.get(column);
  if (known !== undefined) return known;
  const name = fieldForm(column, namespace.inflectNames);
  names.set(column, isValidName(name) ? name : null);
  return names.get(column)!;
}

/** What the columns of one declared type have in common. */
interface ColumnType extends Pick<Column, 'type' | 'cast'> {
  readonly isNeverNull: boolean;
  readonly isFilterable: boolean;
  readonly isOrdered: boolean;
  readonly aggregates: Aggregates;
}

const columnTypes = new WeakMap<TypeResolver, Map<string, ColumnType>>();

function columnTypeOf(
  types: TypeResolver,
  { atttypid: oid, atttypmod, declaredType: text }: CatalogColumn,
): ColumnType {
  const known = columnTypes.get(types) ?? new Map<string, ColumnType>();
  columnTypes.set(types, known);
  const declared = { oid, typmod: atttypmod ?? -1, text };
  const key = declared.typmod === -1 && text === null ? oid : `${oid} ${declared.typmod} ${text ?? ''}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const type = types.value(declared);
  const made = {
    type,
    cast: types.cast(declared),
    isNeverNull: types.isNeverNull(declared),
    isFilterable: type !== null && isFilterable(type),
    isOrdered: type !== null && isOrdered(type),
    aggregates: aggregates(type),
  };
  known.set(key, made);
  return made;
}

/** Only an extension offers the column. */
function isAdded({ type, cast }: Column, plain: TypeResolver): boolean {
  return type !== null && cast.base !== null && plain.value(unmodified(cast.oid)) === null;
}

/** The column, unless it takes the name of a column without the extension, or in filters `and`, `or` or `not`. */
function placeAdded(column: Column, columns: readonly Column[], added: ReadonlySet<Column>): Column {
  const isTaken = columns.some(
    (other) => !added.has(other) && other.type !== null && other.fieldName === column.fieldName,
  );
  const unusable = { readable: false, filterable: false, insertable: false, updatable: false, type: null };
  if (isTaken) return { ...column, ...unusable };
  const filterable = column.filterable && !['and', 'or', 'not'].includes(column.fieldName ?? '');
  return { ...column, added: true, filterable };
}

/** Inheriting tables may have nulls where this one has none. */
function isPlain({ relkind, relhassubclass }: CatalogTable): boolean {
  return relkind === 'r' && relhassubclass !== true;
}

/** Clients see values of the type as JSON, or its text. */
export function isJson(type: ValueType | null): boolean {
  return type?.kind === 'scalar' && (type.scalar === 'JSON' || type.scalar === 'JSONValue');
}

/** Clients see values of the type as JSON. */
export function isJsonValue(type: ValueType | null): boolean {
  return type?.kind === 'scalar' && type.scalar === 'JSONValue';
}

/** Whether equality is defined for the column's values. */
export function isGroupable({ orderable, fieldName, type }: Column): boolean {
  return orderable && fieldName !== null && !(type?.kind === 'scalar' && type.scalar === 'Opaque');
}

/** Whether the column is a value of *B*`Column`. */
export function isInColumns(column: Column): boolean {
  return isGroupable(column) && isEnumValueName(column.fieldName ?? '');
}

/** What a routine gives back is JSON text to clients. */
export function isJsonResult(result: RoutineResult): boolean {
  return result.kind === 'value' && isJson(result.type);
}

/** Text searches apply to values of the type. */
export function isSearchable(type: ValueType | null): boolean {
  if (type?.kind !== 'scalar') return false;
  const { namespace, name } = comparedAs(type.cast);
  return namespace === 'pg_catalog' && name === 'tsvector';
}

/** Whether only the extension `reads` filters columns of the type. */
export function isFilteredByExtension(type: ValueType): boolean {
  return isJson(type) || (type.kind === 'list' && type.element.kind === 'enum');
}

/** Whether columns of the type can be filtered without extensions. */
export function isFilterable(type: ValueType): boolean {
  // Otherwise, the creator of a matching operator could have it run by every role that filters.
  if (type.cast.own !== null && type.cast.own.names.eq === undefined) return false;
  if (type.kind !== 'list') return !isJson(type);
  return type.element.kind === 'scalar' && scalarRow(type.element.scalar).inLists;
}

/** Whether rows can be ordered by columns of the type. */
export function isOrdered(type: ValueType): boolean {
  return type.kind !== 'list' && !isJson(type);
}

type Aggregates = Pick<Column, 'sum' | 'avg' | 'min' | 'max' | 'bool'>;

const noAggregates: Aggregates = { sum: null, avg: null, min: null, max: null, bool: null };

function aggregates(type: ValueType | null): Aggregates {
  if (type?.kind !== 'scalar') return noAggregates;
  const { namespace, name } = comparedAs(type.cast);
  const { sum, avg, minMax } = codecOf(namespace, name);
  const { own } = type.cast;
  const has = (name: 'min' | 'max') => own === null || own.names[name] !== undefined;
  return {
    sum,
    avg,
    min: has('min') ? minMax : null,
    max: has('max') ? minMax : null,
    bool: namespace === 'pg_catalog' && name === 'bool' ? 'Boolean' : null,
  };
}

/** Records the columns that the role cannot see, with reasons. @param type The type of the rows; null: none. */
export function noteOmittedColumns(
  context: ModelContext,
  table: CatalogTable,
  columns: readonly Column[],
  type: string | null,
): void {
  for (const column of columns) {
    if (column.readable && column.fieldName !== 'nodeId') continue;
    const object = `${tablePath(context, table)}.${quoteName(column.name)}`;
    const names = [column.fieldName ?? column.name, column.name].map((name) =>
      type === null ? name : `${type}.${name}`,
    );
    noteOmission(context, () => ({ object, names, ...whyOmitted(context, { table, columns, column, object }) }));
  }
}

interface Omitted {
  readonly table: CatalogTable;
  readonly columns: readonly Column[];
  readonly column: Column;
  readonly object: string;
}

function whyOmitted(context: ModelContext, { table, columns, column, object }: Omitted): Reason {
  const rename = columnFix(context, table, column.name, {
    name: validName(column.name === 'nodeId' ? 'node_id' : column.name),
  });
  if (!column.selectable) {
    const grant = { privileges: 'SELECT', on: 'table', name: tablePath(context, table), column: column.name } as const;
    return missingGrant(context, grant, `Column ${object} exists; role ${context.role} has no SELECT on it.`);
  }
  if (column.fieldName === null) {
    return { kind: 'name', reason: `Column ${object} has no valid GraphQL name.`, fix: rename };
  }
  if (column.fieldName === 'nodeId') {
    const reason = `Column ${object} would be "nodeId" in GraphQL, the name of the global id.`;
    return { kind: 'name', reason, fix: rename };
  }
  if (column.type === null && columns.some(({ fieldName, readable }) => readable && fieldName === column.fieldName)) {
    const reason = `Column ${object} would be "${column.fieldName}" in GraphQL, and another column has that name already.`;
    const fix = columnFix(context, table, column.name, { name: validName(`${column.name}_${column.cast.name}`) });
    return { kind: 'name', reason, fix };
  }
  const type = `${column.cast.namespace}.${column.cast.name}`;
  const isComposite = context.catalog.type(column.cast.oid)?.typtype === 'c';
  const forRole = isComposite ? '' : ` or that role ${context.role} may not use`;
  const reason = `Column ${object} has a type that has no GraphQL counterpart${forRole} (${type}).`;
  return { kind: 'type', reason, fix: null };
}
