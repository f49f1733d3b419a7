/**
 * Plans a root field of a mutation that writes a table (docs/mutations.md).
 *
 * Refuses empty or too different `objects`, an empty `set`, and strings over the declared length.
 */
import { type GraphQLInputObjectType, getNamedType } from 'graphql';
import type { Column, Table } from '../../model/model.ts';
import { inputFieldOrigin } from '../../schema/origin.ts';
import { PublicError } from '../../shared/errors.ts';
import { invariant } from '../../shared/invariant.ts';
import { areSparse } from '../input/decisions.ts';
import type { Input } from '../input/input.ts';
import { groupsText, patternOf, presenceText, type RowGrouping, type Slot } from '../input/slot.ts';
import type { Assignment, InsertColumn, WriteChange, WritePlan } from './plan.ts';
import { planFilter } from './plan-filter.ts';
import { assertFits, refuseLength } from './plan-operator.ts';
import {
  descend,
  type Inputs,
  inputOf,
  inputsOf,
  type MergedFields,
  objectTypeOf,
  type Planner,
  planFields,
} from './planner.ts';

/** Plans one insert, update or delete with its result. */
export function planWrite(
  planner: Planner,
  kind: 'insert' | 'update' | 'delete',
  table: Table,
  field: MergedFields,
): WritePlan {
  const inputs = inputsOf(planner, field);
  const change = kind === 'insert' ? planInsert(inputOf(inputs, 'objects')) : planChange(planner, kind, table, inputs);
  const entries = planFields(planner, objectTypeOf(field.definition), field.nodes, ({ origin, definition, nodes }) => {
    if (origin.kind === 'affected_count') return { kind: 'affected_count' } as const;
    const row = { type: objectTypeOf(definition), table, place: descend(planner, { pages: [], depth: 0 }) };
    return { kind: 'records', object: planner.planObject(planner, row, nodes) } as const;
  });
  return { table, change, entries };
}

function planChange(planner: Planner, kind: 'update' | 'delete', table: Table, inputs: Inputs): WriteChange {
  const atMost = planAtMost(inputOf(inputs, 'at_most'));
  const set = kind === 'update' ? planSet(inputOf(inputs, 'set')) : [];
  const place = { pages: [{ kind: 'slot', slot: atMost }], depth: 1 } as const;
  const filter = planFilter(planner, place, table, inputOf(inputs, 'filter'));
  return kind === 'update' ? { kind, set, filter, atMost } : { kind, filter, atMost };
}

// With an absent variable, the schema's default applies; `state` refuses null.
function planAtMost(input: Input): Slot {
  if (!input.isGiven()) return { kind: 'constant', value: '1' };
  input.state();
  return input.slot();
}

function planSet(set: Input): readonly Assignment[] {
  set.state();
  const assignments = set.fields().map(({ field, input }): Assignment => {
    const origin = inputFieldOrigin(field);
    invariant(origin.kind === 'column', 'update inputs hold columns');
    return { column: origin.column, slot: planValue(origin.column, input) };
  });
  if (assignments.length === 0) {
    throw new PublicError('BAD_USER_INPUT', 'At least one mapping must be provided to set argument');
  }
  return assignments;
}

function planValue(column: Column, input: Input): Slot {
  if (input.state() === 'value') assertFits(column, input);
  return column.type?.kind === 'list' ? input.listSlot() : input.slot();
}

function planInsert(objects: Input): WriteChange {
  objects.state();
  const columns = insertableColumns(objects);
  const rows = objects.path() === null ? planRows(objects, columns) : planVariableRows(objects, columns);
  const named = columns.filter(({ fieldName }) => rows.keys.has(fieldName));
  const used = named.length > 0 ? named : columns.slice(0, 1);
  const insert = used.map(({ column, fieldName }): InsertColumn => {
    const named = rows.keys.get(fieldName) === 'all' ? null : rows.presence(fieldName);
    return { column, values: rows.values(fieldName, column.type?.kind === 'list'), named };
  });
  const grouping = planGrouping(used, rows);
  const inserts = grouping?.patterns.length ?? 1;
  if (inserts > 1 && inserts * used.length > mostColumns) {
    throw refuseKeys(
      `The objects lack too many different keys: they need ${inserts} inserts of ${used.length} columns.`,
    );
  }
  const groups = (grouping?.patterns ?? ['']).map((pattern) => columnsOf(used, grouping, pattern));
  const groupOf = grouping === null || groups.length === 1 ? null : rows.groups(grouping);
  return { kind: 'insert', columns: insert, groups, groupOf };
}

// A default applies only to an insert that leaves out the column. Its text is never printed: parsed again, its names
// would be looked up in the request's search path.
function planGrouping(columns: readonly InsertableColumn[], rows: PlannedRows): RowGrouping | null {
  const isLeftToDefault = ({ fieldName, column }: InsertableColumn) =>
    rows.keys.get(fieldName) !== 'all' && column.hasDefault;
  const fieldNames = columns.filter(isLeftToDefault).map(({ fieldName }) => fieldName);
  return fieldNames.length === 0 ? null : { fieldNames, patterns: rows.patterns(fieldNames) };
}

function columnsOf(
  columns: readonly InsertableColumn[],
  grouping: RowGrouping | null,
  pattern: string,
): readonly number[] {
  const isLeftOut = ({ fieldName }: InsertableColumn) => pattern[grouping?.fieldNames.indexOf(fieldName) ?? -1] === '0';
  return columns.flatMap((column, index) => (isLeftOut(column) ? [] : [index]));
}

interface InsertableColumn {
  readonly column: Column;
  readonly fieldName: string;
}

function insertableColumns(objects: Input): readonly InsertableColumn[] {
  const type = getNamedType(objects.type) as GraphQLInputObjectType;
  return Object.values(type.getFields()).map((field) => {
    const origin = inputFieldOrigin(field);
    invariant(origin.kind === 'column', 'insert inputs hold columns');
    return { column: origin.column, fieldName: field.name };
  });
}

interface PlannedRows {
  /** Occurring field names, and whether every object has them. */
  readonly keys: ReadonlyMap<string, 'all' | 'some'>;
  /** Which of these names the objects have: the occurring patterns (slot.ts), sorted. */
  patterns(fieldNames: readonly string[]): readonly string[];
  /** The values of a key. */
  values(fieldName: string, isList: boolean): Slot;
  /** Which objects have a key. */
  presence(fieldName: string): Slot;
  groups(grouping: RowGrouping): Slot;
}

// Objects of a variable are described together: occurring keys, and whether all objects have them. Their number is not
// part of the shape, so inserts of any size share one text.
function planVariableRows(objects: Input, columns: readonly InsertableColumn[]): PlannedRows {
  const limits = columns.flatMap(({ column, fieldName }) =>
    column.cast.maxLength === null ? [] : [{ fieldName, maxLength: column.cast.maxLength }],
  );
  const { keys, tooLong, isEmpty, isSparse } = objects.describeRows(limits);
  if (isEmpty) throw refuseEmpty();
  if (isSparse) throw refuseSparse();
  const limit = limits.find(({ fieldName }) => fieldName === tooLong);
  if (limit) throw refuseLength(limit.maxLength, `${objects.place()}[*].${limit.fieldName}`);
  const path = objects.path();
  invariant(path, 'the objects come from a variable');
  return {
    keys,
    patterns: (fieldNames) => objects.rowPatterns(fieldNames),
    values: (fieldName, isList) => ({ kind: 'key_values', path, fieldName, isList }),
    presence: (fieldName) => ({ kind: 'key_presence', path, fieldName }),
    groups: (grouping) => ({ kind: 'row_groups', path, grouping }),
  };
}

const absent: Slot = { kind: 'constant', value: null };

function planRows(objects: Input, columns: readonly InsertableColumn[]): PlannedRows {
  const items = [...objects.items()];
  if (items.length === 0) throw refuseEmpty();
  const byName = new Map(columns.map(({ column, fieldName }) => [fieldName, column]));
  const occurrences = new Map<string, number>();
  const rows = items.map((item): ReadonlyMap<string, Slot> => {
    item.state();
    return new Map(
      item.fields().map(({ field, input }) => {
        occurrences.set(field.name, (occurrences.get(field.name) ?? 0) + 1);
        return [field.name, planValue(byName.get(field.name)!, input)];
      }),
    );
  });
  if (areSparse(items.length, occurrences)) throw refuseSparse();
  const keys = new Map(
    [...occurrences].map(([name, count]) => [name, count === items.length ? 'all' : 'some'] as const),
  );
  const patternsOf = (fieldNames: readonly string[]) =>
    rows.map((row) => patternOf(fieldNames, (name) => row.has(name)));
  return {
    keys,
    patterns: (fieldNames) => [...new Set(patternsOf(fieldNames))].sort(),
    values: (name) => ({ kind: 'array', items: rows.map((row) => row.get(name) ?? absent) }),
    presence: (name) => ({ kind: 'constant', value: presenceText(rows.map((row) => row.has(name))) }),
    groups: (grouping) => ({ kind: 'constant', value: groupsText(grouping, patternsOf(grouping.fieldNames)) }),
  };
}

/** Most columns in all inserts of one statement, for half a megabyte of text. */
const mostColumns = 10_000;

function refuseSparse(): PublicError {
  return refuseKeys('The objects lack too many of the keys that others of them have.');
}

function refuseKeys(message: string): PublicError {
  return new PublicError('LIMIT_EXCEEDED', message, { extensions: { limit: 'keys' } });
}

function refuseEmpty(): PublicError {
  return new PublicError('BAD_USER_INPUT', 'At least one record must be provided to objects');
}
