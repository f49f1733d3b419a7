/** The mutations of the page: each changes no more rows than it names. */
import type { Caller } from '../../shared/caller.ts';
import { runAs } from '../../shared/graphql.ts';
import type { RoleTable } from '../../shared/role-schema.ts';
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

async function write(
  { table, caller }: Target,
  field: string,
  declared: string,
  given: string,
  variables: Row,
  checks = '',
) {
  const query = `mutation ${table.name}Write(${declared}) {
  ${field}(${given}) { affectedCount records { ${selectionOf(table)} ${checks} } }
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

/** Changes a row while `same` finds it; zero rows otherwise. @param set With related rows, too. */
export function updateRow(target: Target, same: Row, set: Row, checks: readonly Check[] = []): Promise<Written> {
  const { name, update } = target.table;
  const declared = [
    `$set: ${name}UpdateInput!, $filter: ${name}Filter`,
    ...checks.map(({ field, target: related }) => `$${field}: ${related}Filter`),
  ];
  const variables = { set, filter: same, ...Object.fromEntries(checks.map(({ field, filter }) => [field, filter])) };
  const given = 'set: $set, filter: $filter, atMost: 1';
  return write(target, update!, declared.join(', '), given, variables, checks.map(printCheck).join(' '));
}

/** Related rows that are read with the row when all is written. */
export interface Check {
  /** Of the answer. */
  readonly field: string;
  /** The relationship, and the type of its rows. */
  readonly relationship: string;
  readonly target: string;
  readonly filter: Row;
  readonly first: number;
  readonly selection: string;
}

function printCheck({ field, relationship, first, selection }: Check): string {
  return `${field}: ${relationship}(filter: $${field}, first: ${first}) { edges { node { ${selection} } } }`;
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
