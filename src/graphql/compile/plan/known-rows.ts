/**
 * Rows that one root field inserts at several places (docs/nested-writes.md): of equal objects that others refer to, the
 * first place inserts one row.
 */
import type { Table } from '../../model/model.ts';
import type { Input } from '../input/input.ts';
import type { Path } from '../input/slot.ts';
import type { NestedField } from './plan-connected.ts';

/** The rows of a step to which others refer. */
export interface KnownRows {
  readonly table: Table;
  readonly step: number;
  /** Their *B*`OnConflict`; null: they have none. */
  readonly onConflict: Input | null;
  /** Place of the different ones in the variables; null: they are in the document. */
  readonly path: Path | null;
  /** The number of each, from 1, by its text in the document; null: they are in variables. */
  readonly numbers: ReadonlyMap<string, number> | null;
}

/** Whether several objects may refer to one row: equal ones are inserted once. */
export function isShared({ relationship: { direction, id }, target }: NestedField): boolean {
  const isOwn = target.relationships.some(
    (other) => other.id === id && other.cardinality === 'one' && other.direction === 'inbound',
  );
  return direction === 'outbound' && !isOwn;
}

/** Whether equal objects of the two places would write one row. */
export function isAlike({ table, onConflict }: KnownRows, { target }: NestedField, other: Input | null): boolean {
  if (table !== target) return false;
  if (onConflict === null || other === null) return onConflict === other;
  return onConflict.source() === other.source() || onConflict.hasSameValue(other);
}
