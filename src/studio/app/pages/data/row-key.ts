/** Keys of rows: a text for addresses, and the filter that finds the row again. */
import type { RoleTable, TableColumn } from '../../shared/role-schema.ts';

/** A row by field names. */
export type Row = Readonly<Record<string, unknown>>;

/** The columns of the key. */
export function keyColumns({ columns }: RoleTable): readonly TableColumn[] {
  return columns.filter(({ isKey }) => isKey);
}

/** Whether rows are told apart by the columns of the key; the global ID does otherwise. */
function hasPlainKey(table: RoleTable): boolean {
  const columns = keyColumns(table);
  return columns.length > 0 && columns.every((column) => column.isRead && canEqual(column));
}

/** Whether a filter can compare the column with a value. */
function canEqual({ operators }: TableColumn): boolean {
  return operators.some(({ name }) => name === 'eq');
}

/** The key: its values joined by `~`, or the global ID. */
export function keyOf(table: RoleTable, row: Row): string {
  return hasPlainKey(table) ? joinKey(keyColumns(table).map(({ name }) => row[name])) : String(row[table.nodeId ?? '']);
}

/** Values as a key. */
export function joinKey(values: readonly unknown[]): string {
  return values.map((value) => encodeURIComponent(String(value)).replaceAll('~', '%7E')).join('~');
}

/** The filter that finds a row by its key; null if it is not a key of the table. */
export function filterOfKey(table: RoleTable, key: string): Row | null {
  if (!hasPlainKey(table)) return table.nodeId === null ? null : { [table.nodeId]: { eq: key } };
  const columns = keyColumns(table);
  const parts = readKey(key);
  if (parts.length !== columns.length) return null;
  return Object.fromEntries(columns.map(({ name, type }, index) => [name, { eq: operandOf(parts[index]!, type) }]));
}

/** The filter that finds the row by its key while columns have these values, where their filters can compare them. */
export function filterOfValues(table: RoleTable, row: Row, columns: readonly TableColumn[], values: Row): Row {
  return { and: [filterOfKey(table, keyOf(table, row)), ...columns.flatMap((one) => hasValue(one, values[one.name]))] };
}

function hasValue(column: TableColumn, value: unknown): readonly Row[] {
  if (value !== null) return canEqual(column) ? [{ [column.name]: { eq: value } }] : [];
  return column.operators.some(({ name }) => name === 'is') ? [{ [column.name]: { is: 'NULL' } }] : [];
}

/** The values of a key; none of an address that was edited by hand. */
function readKey(key: string): readonly string[] {
  try {
    return key.split('~').map(decodeURIComponent);
  } catch {
    return [];
  }
}

/** A text as a value of a GraphQL type: `12` is the number for `Int`. */
export function operandOf(text: string, type: string): unknown {
  const name = type.replace(/[[\]!]/g, '');
  if (name === 'Int' || name === 'Float') return text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text);
  return name === 'Boolean' ? text === 'true' : text;
}
