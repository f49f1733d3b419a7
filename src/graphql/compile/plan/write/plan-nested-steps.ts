/**
 * Builds the steps of a write with those of related rows (nested-writes.ts).
 *
 * Refuses too many levels, too many places, and rows without a known key.
 */
import type { FieldNode } from 'graphql';
import { PublicError } from '../../../../shared/errors.ts';
import type { Column, Relationship } from '../../../model/model.ts';
import { type Input, refuseInput } from '../../input/input.ts';
import { spend } from '../../input/plan-budget.ts';
import type { Slot } from '../../input/slot.ts';
import type { KnownRows } from '../known-rows.ts';
import type { LimitPlan, WriteChange, WritePlan } from '../plan.ts';
import { columnOf } from '../plan-order.ts';
import { descend, type Planner } from '../planner.ts';
import { foreseeKeys, sourceOfKeys } from './foresee-keys.ts';
import type { KeySource, WriteStep } from './nested-writes.ts';

/** A step, whose keys are known when all others are planned. */
export interface BuiltStep extends Omit<WriteStep<WriteChange>, 'keysFrom' | 'foreseen'> {
  readonly keys: Column[];
  /** What an insert does with rows that are there, if they may stay as they are; null: none may. */
  readonly keepsRows: Input | null;
}

/** The steps so far. */
export interface Building {
  readonly planner: Planner;
  /** The fields of the write, for messages. */
  readonly nodes: readonly FieldNode[];
  readonly steps: BuiltStep[];
  /** Rows of these steps that equal objects share. */
  readonly known: KnownRows[];
}

const maxLevels = 4;

/** Adds a step. @returns Its number. */
export function addStep({ planner, steps }: Building, step: BuiltStep): number {
  if (steps.length > 0) spend(planner.budget, 'nestedWrites');
  return steps.push(step) - 1;
}

/** Enters a place of related rows. @param level Number of objects around it, without the one of the root field. */
export function enter(planner: Planner, level: number): void {
  if (level === maxLevels) {
    const message = `Related rows are nested more than ${maxLevels} levels deep. Send those below in a mutation of their own.`;
    throw new PublicError('LIMIT_EXCEEDED', message, { extensions: { limit: 'nested-writes' } });
  }
  descend(planner, { pages: [], depth: level + 1 });
}

/** The index of a column in the keys that a step keeps. */
export function keyOf({ keys }: BuiltStep, column: Column): number {
  const known = keys.indexOf(column);
  return known >= 0 ? known : keys.push(column) - 1;
}

/**
 * The nested writes of these steps, null for a single one. Refuses rows that may stay as they are where others need their keys.
 *
 * @param isCounted The answer is their number alone.
 */
export function finish(steps: readonly BuiltStep[], root: number, isCounted: boolean): WritePlan['nested'] {
  const { table, change } = steps[root]!;
  // A choice of rows is none of the changes that are printed alone.
  if (steps.length === 1 && !changesNothing(change)) return null;
  const isUnread = isCounted && change.kind === 'insert' && !isReadBack(steps[root]!);
  // The answer is read by them.
  if (!isUnread) for (const number of table.primaryKey) keyOf(steps[root]!, columnOf(table, number));
  for (const { keys, keepsRows } of steps) if (keepsRows !== null && keys.length > 0) throw refuseKept(keepsRows);
  const finished = steps.map(({ keepsRows: _, ...step }, number): WriteStep<WriteChange> => {
    const isAsked = number === root ? !isCounted : !step.table.unreadWrites;
    const keysFrom = isAsked ? 'asked' : keysOf(step);
    if (step.change.kind !== 'insert' || step.keys.length === 0 || keysFrom !== 'objects')
      return { ...step, keysFrom, foreseen: null };
    return { ...step, keysFrom, ...foreseeKeys(step.change, step.keys, number) };
  });
  return { steps: finished, root, isUnread };
}

function keysOf({ table, change, keys }: Omit<BuiltStep, 'keepsRows'>): KeySource {
  return change.kind === 'insert' ? sourceOfKeys(table, change, keys) : 'asked';
}

function isReadBack(step: BuiltStep): boolean {
  return step.keys.length > 0 && keysOf(step) !== 'objects';
}

/** Whether an update only chooses rows, whose related rows change. */
export function changesNothing(change: WriteStep<WriteChange>['change']): boolean {
  return change.kind === 'update' && change.set.length === 0 && change.links.length === 0;
}

/** Those of comments have no constraint. */
export function isDeclared({ id }: Relationship): boolean {
  return !id.startsWith('directive:');
}

// A row that stays as it is is not returned, so neither is its key.
function refuseKept(onConflict: Input): PublicError {
  const message =
    'Rows with related rows, or beside "replace", cannot stay as they are: give "onConflict" updateColumns, and no filter.';
  return refuseInput(message, onConflict);
}

/** A number as a parameter, so that it is no part of the text. */
export function slotOf(count: LimitPlan): Slot {
  return count.kind === 'slot' ? count.slot : { kind: 'constant', value: String(count.value) };
}
