/** The mutations of the page: each changes no more rows than it names. */
import type { Caller } from '../../shared/caller.ts';
import { runAs } from '../../shared/graphql.ts';
import type { RoleTable, TableColumn } from '../../shared/role-schema.ts';
import { selectionOf } from './read-operations.ts';
import { filterOfKey, keyColumns, keyOf, type Row } from './row-key.ts';

/** What a mutation has done. */
export interface Written {
  readonly affectedCount: number;
  /** As the caller sees them afterwards. */
  readonly records: readonly Row[];
}

/** A table as a caller. */
export interface Target {
  readonly table: RoleTable;
  readonly caller: Caller;
}

async function write({ table, caller }: Target, field: string, declared: string, given: string, variables: Row) {
  const query = `mutation ${table.name}Write(${declared}) {
  ${field}(${given}) { affectedCount records { ${selectionOf(table)} } }
}`;
  const data = await runAs<Readonly<Record<string, Written>>>(caller, { query, variables });
  return data[field]!;
}

/** The row as it is now; null if the caller does not see it. */
export async function readRow({ table, caller }: Target, key: string, signal?: AbortSignal): Promise<Row | null> {
  const filter = filterOfKey(table, key);
  if (filter === null) return null;
  const query = `query ${table.name}Row($filter: ${table.name}Filter) {
  ${table.collection}(filter: $filter, first: 1) { edges { node { ${selectionOf(table)} } } }
}`;
  type Read = Readonly<Record<string, { readonly edges: readonly { readonly node: Row }[] }>>;
  const data = await runAs<Read>(caller, { query, variables: { filter } }, signal);
  return data[table.collection!]!.edges[0]?.node ?? null;
}

/** Changes columns of a row where they still have the old values; zero rows otherwise. */
export function updateRow(target: Target, before: Row, set: Row): Promise<Written> {
  const { table } = target;
  const same = table.columns.filter(({ name }) => name in set).flatMap((column) => sameAs(column, before[column.name]));
  const filter = { and: [filterOfKey(table, keyOf(table, before)), ...same] };
  const declared = `$set: ${table.name}UpdateInput!, $filter: ${table.name}Filter`;
  return write(target, table.update!, declared, 'set: $set, filter: $filter, atMost: 1', { set, filter });
}

/** The condition that the column has the value, where its filter has one. */
function sameAs({ name, operators }: TableColumn, value: unknown): readonly Row[] {
  const has = (operator: string): boolean => operators.some((entry) => entry.name === operator);
  if (value === null) return has('is') ? [{ [name]: { is: 'NULL' } }] : [];
  return has('eq') ? [{ [name]: { eq: value } }] : [];
}

/** Inserts rows in one transaction. */
export function insertRows(target: Target, objects: readonly Row[]): Promise<Written> {
  const { table } = target;
  return write(target, table.insert!, `$objects: [${table.name}InsertInput!]!`, 'objects: $objects', { objects });
}

/** Deletes these rows, all or none. */
export function deleteRows(target: Target, rows: readonly Row[]): Promise<Written> {
  const { table } = target;
  const [only] = keyColumns(table);
  const isPlain = keyColumns(table).length === 1 && only!.operators.some(({ name }) => name === 'in');
  const filter = isPlain
    ? { [only!.name]: { in: rows.map((row) => row[only!.name]) } }
    : { or: rows.map((row) => filterOfKey(table, keyOf(table, row))) };
  const declared = `$filter: ${table.name}Filter, $atMost: Int!`;
  return write(target, table.delete!, declared, 'filter: $filter, atMost: $atMost', { filter, atMost: rows.length });
}

/** The rows as an insert brings them back; null if their keys or other columns cannot be given. */
export function restorable({ columns, insert }: RoleTable, rows: readonly Row[]): readonly Row[] | null {
  if (insert === null || columns.some(({ isKey, insert: entry }) => isKey && entry === null)) return null;
  const given = columns.filter(({ isRead, insert: entry }) => isRead && entry !== null);
  return rows.map((row) => Object.fromEntries(given.map(({ name }) => [name, row[name]])));
}
