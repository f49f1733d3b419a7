/**
 * Plans an insert: its columns, the objects that are inserted separately (docs/mutations.md), and what happens to rows
 * that are there already (docs/upsert.md).
 *
 * Refuses empty or too different `objects`, and strings over the declared length.
 */
import { type FieldNode, type GraphQLInputObjectType, getNamedType } from 'graphql';
import type { Table } from '../../model/model.ts';
import { inputFieldOrigin } from '../../schema/origin.ts';
import { invariant } from '../../shared/invariant.ts';
import type { Input } from '../input/input.ts';
import { mostRuns, type RowGrouping } from '../input/slot.ts';
import type { InsertChange, InsertColumn } from './plan.ts';
import { mayKeepRows, placeOfObjects, planConflict } from './plan-conflict.ts';
import { type InsertableColumn, type PlannedRows, planRows, planVariableRows, refuseKeys } from './plan-rows.ts';
import type { Planner } from './planner.ts';

/** What is inserted into, and the fields with the objects, for messages. */
interface InsertTarget {
  readonly planner: Planner;
  readonly table: Table;
  readonly nodes: readonly FieldNode[];
}

/** Plans the insert of `objects`. @param onConflict A *B*`OnConflict`; null: the table has none. */
export function planInsert(
  { planner, table, nodes }: InsertTarget,
  objects: Input,
  onConflict: Input | null,
): InsertChange {
  objects.state();
  const columns = insertableColumns(objects);
  const rows = objects.path() === null ? planRows(objects, columns) : planVariableRows(objects, columns);
  const named = columns.filter(({ fieldName }) => rows.keys.has(fieldName));
  const used = named.length > 0 ? named : columns.slice(0, 1);
  const insert = used.map(({ column, fieldName }): InsertColumn => {
    const named = rows.keys.get(fieldName) === 'all' ? null : rows.presence(fieldName);
    return { column, values: rows.values(fieldName, column.type?.kind === 'list'), named };
  });
  const conflicting = { place: placeOfObjects(objects, nodes), count: rows.count };
  const conflict = onConflict && planConflict(planner, table, onConflict, conflicting);
  const grouping = planGrouping(used, rows, mayKeepRows(conflict));
  const inserts = grouping?.patterns.length ?? 1;
  if (grouping?.inOrder && inserts > mostRuns)
    throw refuseKeys('Objects with different keys alternate too often. Put equal ones together.');
  if (inserts > 1 && inserts * used.length > mostColumns) {
    throw refuseKeys(
      `The objects lack too many different keys: they need ${inserts} inserts of ${used.length} columns.`,
    );
  }
  const groups = (grouping?.patterns ?? ['']).map((pattern) => columnsOf(used, grouping, pattern));
  const groupOf = grouping === null || groups.length === 1 ? null : rows.groups(grouping);
  return { kind: 'insert', columns: insert, groups, groupOf, conflict };
}

// A default applies only to an insert that leaves out the column. Its text is never printed: parsed again, its names
// would be looked up in the request's search path.
function planGrouping(columns: readonly InsertableColumn[], rows: PlannedRows, inOrder: boolean): RowGrouping | null {
  const isLeftToDefault = ({ fieldName, column }: InsertableColumn) =>
    rows.keys.get(fieldName) !== 'all' && column.hasDefault;
  const fieldNames = columns.filter(isLeftToDefault).map(({ fieldName }) => fieldName);
  return fieldNames.length === 0 ? null : { fieldNames, inOrder, patterns: rows.patterns(fieldNames, inOrder) };
}

function columnsOf(
  columns: readonly InsertableColumn[],
  grouping: RowGrouping | null,
  pattern: string,
): readonly number[] {
  const isLeftOut = ({ fieldName }: InsertableColumn) => pattern[grouping?.fieldNames.indexOf(fieldName) ?? -1] === '0';
  return columns.flatMap((column, index) => (isLeftOut(column) ? [] : [index]));
}

function insertableColumns(objects: Input): readonly InsertableColumn[] {
  const type = getNamedType(objects.type) as GraphQLInputObjectType;
  return Object.values(type.getFields()).map((field) => {
    const origin = inputFieldOrigin(field);
    invariant(origin.kind === 'column', 'insert inputs hold columns');
    return { column: origin.column, fieldName: field.name };
  });
}

/** Most columns in all inserts of one statement, for half a megabyte of text. */
const mostColumns = 10_000;
