/**
 * The objects to insert: those of a variable, whose number is not part of the plan, or those in the document.
 */
import type { Column } from '../../model/model.ts';
import { PublicError } from '../../shared/errors.ts';
import { invariant } from '../../shared/invariant.ts';
import { areSparse } from '../input/decisions.ts';
import type { Input } from '../input/input.ts';
import { groupsText, patternOf, patternsOf, presenceText, type RowGrouping, type Slot } from '../input/slot.ts';
import type { LimitPlan } from './plan.ts';
import { planValue, refuseLength } from './plan-operator.ts';

/** A column that objects may set, under its name in them. */
export interface InsertableColumn {
  readonly column: Column;
  readonly fieldName: string;
}

/** What is known of the objects. */
export interface PlannedRows {
  /** Occurring field names, and whether every object has them. */
  readonly keys: ReadonlyMap<string, 'all' | 'some'>;
  /** Their number. */
  readonly count: LimitPlan;
  /** Which of these names the objects have: the patterns of their groups (slot.ts). */
  patterns(fieldNames: readonly string[], inOrder: boolean): readonly string[];
  /** The values of a key. */
  values(fieldName: string, isList: boolean): Slot;
  /** Which objects have a key. */
  presence(fieldName: string): Slot;
  groups(grouping: RowGrouping): Slot;
}

/**
 * The objects of a variable, described together: occurring keys, and whether all objects have them. Their number is not
 * part of the shape, so inserts of any size share one text.
 */
export function planVariableRows(objects: Input, columns: readonly InsertableColumn[]): PlannedRows {
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
    count: { kind: 'slot', slot: { kind: 'row_count', path } },
    patterns: (fieldNames, inOrder) => objects.rowPatterns(fieldNames, inOrder),
    values: (fieldName, isList) => ({ kind: 'key_values', path, fieldName, isList }),
    presence: (fieldName) => ({ kind: 'key_presence', path, fieldName }),
    groups: (grouping) => ({ kind: 'row_groups', path, grouping }),
  };
}

const absent: Slot = { kind: 'constant', value: null };

/** Objects in the document. */
export function planRows(objects: Input, columns: readonly InsertableColumn[]): PlannedRows {
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
  const ofRows = (fieldNames: readonly string[]) => rows.map((row) => patternOf(fieldNames, (name) => row.has(name)));
  return {
    keys,
    count: { kind: 'constant', value: items.length },
    patterns: (fieldNames, inOrder) => patternsOf(ofRows(fieldNames), inOrder),
    values: (name) => ({ kind: 'array', items: rows.map((row) => row.get(name) ?? absent) }),
    presence: (name) => ({ kind: 'constant', value: presenceText(rows.map((row) => row.has(name))) }),
    groups: (grouping) => ({ kind: 'constant', value: groupsText(grouping, ofRows(grouping.fieldNames)) }),
  };
}

function refuseSparse(): PublicError {
  return refuseKeys('The objects lack too many of the keys that others of them have.');
}

/** The error for objects with too many different keys. */
export function refuseKeys(message: string): PublicError {
  return new PublicError('LIMIT_EXCEEDED', message, { extensions: { limit: 'keys' } });
}

function refuseEmpty(): PublicError {
  return new PublicError('BAD_USER_INPUT', 'At least one record must be provided to objects');
}
