/** Links the rows of tables in sql/catalog.sql: columns, constraints and indexes with what is known about them. */
import { mapInSlices, type Sliced, sliceIsOver } from '../../shared/slices.ts';
import type { AttributeRow, CatalogColumn, CatalogIndex, CatalogTable } from './catalog.ts';
import { findViewBases, type ViewQueries } from './view-base.ts';

/** The rows of tables. */
export interface TableRows {
  readonly classes: readonly Omit<
    CatalogTable,
    | 'getAttributes'
    | 'getConstraints'
    | 'getIndexes'
    | 'getBase'
    | 'readsUserCode'
    | 'writesUserCode'
    | 'planningWeight'
  >[];
  /** In parts, each with a list for each column of `pg_attribute`. */
  readonly attributes: readonly { readonly [Key in keyof AttributeRow]-?: readonly AttributeRow[Key][] }[];
  readonly constraint_columns: readonly (readonly [string, string, readonly number[]])[];
  readonly indexes: readonly CatalogIndex[];
  readonly view_queries: ViewQueries;
  /** Table, column, name of the sequence if it is the column's default, number of its access list. */
  readonly owned_sequences: readonly (readonly [string, number, string | null, number])[];
  readonly unusual_null_orders: readonly (readonly [string, number])[];
  readonly nondeterministic_columns: readonly (readonly [string, number, allowsLike: boolean])[];
  readonly column_defaults: readonly (readonly [string, number, functionName: string | null])[];
  readonly user_code: readonly (readonly [string, number])[];
  readonly declared_types: readonly (readonly [string, number, string])[];
}

/** The tables with their parts. Their planning weights depend on others, and are 0 here. */
export function* linkTables(source: TableRows): Sliced<CatalogTable[]> {
  const columns = yield* columnsByTable(source);
  const indexes = Map.groupBy(source.indexes, (index) => index.indrelid);
  if (sliceIsOver()) yield;
  const constraints = Map.groupBy(source.constraint_columns, ([table]) => table);
  if (sliceIsOver()) yield;
  const userCode = new Map(source.user_code);
  const baseOf = findViewBases(source.view_queries, indexes);
  const nullOrders = byColumn(source.unusual_null_orders);
  return yield* mapInSlices(source.classes, (row) => {
    const [own, unique] = [columns.get(row._id) ?? [], indexes.get(row._id) ?? []];
    const constrained = (constraints.get(row._id) ?? []).map(([, name, columns]) => ({ name, columns }));
    const code = userCode.get(row._id) ?? 0;
    const runs = { readsUserCode: (code & 1) !== 0, writesUserCode: (code & 2) !== 0 };
    const hasUnusualNullOrder = nullOrders.get(row._id)?.has(0) === true;
    return {
      ...row,
      ...runs,
      hasUnusualNullOrder,
      planningWeight: 0,
      getAttributes: () => own,
      getConstraints: () => constrained,
      getIndexes: () => unique,
      getBase: () => baseOf(row._id),
    };
  });
}

function* columnsByTable(source: TableRows): Sliced<ReadonlyMap<string, readonly CatalogColumn[]>> {
  const defaults = byColumn<string | null>(source.column_defaults);
  const sequences = byColumn(source.owned_sequences.map(([table, column, name]) => [table, column, name] as const));
  const nullOrders = byColumn(source.unusual_null_orders);
  const nondeterministic = byColumn<boolean>(source.nondeterministic_columns);
  const declaredTypes = byColumn(source.declared_types);
  const tables = new Map<string, CatalogColumn[]>();
  const add = (lists: TableRows['attributes'][number], index: number): void => {
    const [attrelid, attnum] = [lists.attrelid[index]!, lists.attnum[index]!];
    const allowsLike = nondeterministic.get(attrelid)?.get(attnum);
    const column: CatalogColumn = {
      attrelid,
      attnum,
      attname: lists.attname[index]!,
      atttypid: lists.atttypid[index]!,
      atttypmod: lists.atttypmod[index]!,
      attnotnull: lists.attnotnull[index]!,
      attidentity: lists.attidentity[index]!,
      attgenerated: lists.attgenerated[index]!,
      hasDefault: defaults.get(attrelid)?.has(attnum) === true,
      ownsSequence: sequences.get(attrelid)?.has(attnum) === true,
      sequence: sequences.get(attrelid)?.get(attnum) ?? null,
      defaultFunction: defaults.get(attrelid)?.get(attnum) ?? null,
      hasUnusualNullOrder: nullOrders.get(attrelid)?.has(attnum) === true,
      nondeterministicCollation: allowsLike === undefined ? null : { allowsLike },
      declaredType: declaredTypes.get(attrelid)?.get(attnum) ?? null,
    };
    const known = tables.get(attrelid);
    if (known === undefined) tables.set(attrelid, [column]);
    else known.push(column);
  };
  for (const lists of source.attributes) {
    for (let index = 0; index < lists.attrelid.length; index += 1) {
      if (sliceIsOver()) yield;
      add(lists, index);
    }
  }
  for (const columns of tables.values()) {
    if (sliceIsOver()) yield;
    columns.sort((a, b) => a.attnum - b.attnum);
  }
  return tables;
}

/** By table, then by column: most tables have none, and it is read for every column and role. */
type ByColumn<T> = ReadonlyMap<string, ReadonlyMap<number, T>>;

/** @param rows Table, column, and a fact about it; without one, being listed is the fact. */
function byColumn<T = undefined>(rows: readonly (readonly [string, number, T?])[]): ByColumn<T | undefined> {
  const tables = Map.groupBy(rows, ([table]) => table);
  return new Map(
    [...tables].map(([table, columns]) => [table, new Map(columns.map(([, column, value]) => [column, value]))]),
  );
}
