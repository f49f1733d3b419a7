/** Changes of columns, as parts of the plan. */
import type { UpdateOperator } from '../../../model/extensions/update-operators.ts';
import type { Column } from '../../../model/model.ts';
import type { Slot } from '../../input/slot.ts';

/** A column that an update changes: to the operand, or by it. */
export interface Assignment {
  readonly column: Column;
  readonly operator: 'set' | UpdateOperator;
  readonly slot: Slot;
}

/** A column that gets the key of the only row of another step. */
export interface KeptAssignment {
  readonly column: Column;
  readonly step: number;
  /** Index into the `keys` of the step. */
  readonly key: number;
}

/** A column of keys, with an array of their values. */
export interface KeyValues {
  readonly column: Column;
  readonly values: Slot;
}

/** The changes of single rows by their keys. Each slot is an array with an element for each row, of `set` as texts. */
export interface BulkUpdate {
  readonly kind: 'update_each';
  readonly keys: readonly KeyValues[];
  readonly set: readonly Assignment[];
}
