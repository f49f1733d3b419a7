/**
 * Plans links to rows that are there (docs/nested-writes.md): they are found by key, or changed to refer to other rows.
 *
 * Refuses foreign keys that the role may not set.
 */
import { PublicError } from '../../../../shared/errors.ts';
import type { Column } from '../../../model/model.ts';
import { printPath } from '../../input/storable-text.ts';
import type { ConnectedRows, NestedField } from '../plan-connected.ts';
import { columnOf } from '../plan-order.ts';
import { addStep, type Building, enter, keyOf } from './plan-nested-steps.ts';

/** A link of objects. */
interface Link {
  readonly nested: NestedField;
  readonly found: ConnectedRows;
  /** Number of objects that it is nested in. */
  readonly level: number;
}

/** Adds a step that finds the rows, for those that will refer to them. @returns Its number. */
export function addFound(building: Building, { nested, found, level }: Link): number {
  enter(building.planner, level);
  const { by, count, place } = found;
  const change = { kind: 'find', by } as const;
  return addStep(building, { table: nested.target, change, count, within: null, keys: [], place, keepsRows: null });
}

/** Adds a step that makes the rows refer to those of step `parent`. */
export function addConnected(building: Building, { nested, found, level }: Link, parent: number): void {
  enter(building.planner, level);
  const { target } = nested;
  const from = building.steps[parent]!;
  const { by, count, place, parents } = found;
  const set = nested.relationship.pairs.map(({ local, foreign }) => ({
    column: settable(columnOf(target, foreign), nested, place),
    key: keyOf(from, columnOf(from.table, local)),
  }));
  const link = { step: parent, places: parents, isEvery: true };
  const change = { kind: 'connect', by, link, set } as const;
  addStep(building, { table: target, change, count, within: null, keys: [], place, keepsRows: null });
}

function settable(column: Column, { field }: NestedField, place: ConnectedRows['place']): Column {
  if (column.updatable) return column;
  const message = `"${field.name}" sets "${column.fieldName ?? column.name}" of the related rows, which the role may not change.`;
  const input = typeof place === 'string' ? place : printPath(place);
  throw new PublicError('BAD_USER_INPUT', message, { extensions: { input } });
}
