/**
 * Plans links to rows that are there (docs/nested-writes.md): they are found by key, changed to refer to other rows, or no
 * longer refer to them.
 *
 * Refuses foreign keys that the role may not set, or that take no null.
 */
import { badInput } from '../../../../shared/errors.ts';
import { replacedAtMost } from '../../../model/extensions/nested-writes.ts';
import type { Column, Table } from '../../../model/model.ts';
import { type InputFieldOrigin, inputFieldOrigin } from '../../../schema/origin.ts';
import { type Input, refuseInput } from '../../input/input.ts';
import { printPath } from '../../input/storable-text.ts';
import type { WriteChange } from '../plan.ts';
import { type ConnectedRows, documentConnected, type NestedField } from '../plan-connected.ts';
import { columnOf } from '../plan-order.ts';
import { refuseGiven } from '../plan-rows.ts';
import type { Assignment, KeptAssignment } from './assignment.ts';
import type { Within } from './nested-writes.ts';
import { addStep, type Building, enter, isDeclared, keyOf } from './plan-nested-steps.ts';

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
  return addStep(building, { ...ownStep, table: nested.target, change, count, keys: [], place });
}

/** Adds steps that make the rows of each key refer to those of step `parent`. @returns Their numbers. */
export function addConnected(
  building: Building,
  { connected, ...of }: Omit<Link, 'found'> & { readonly connected: readonly ConnectedRows[] },
  parent: number,
): readonly number[] {
  const numbers: number[] = [];
  for (const found of connected) numbers.push(addConnectedBy(building, { ...of, found }, parent, numbers));
  return numbers;
}

/** @param others Steps of other keys: no row is named by two, or it would silently go to the last one's parent. */
function addConnectedBy(
  building: Building,
  { nested, found, level }: Link,
  parent: number,
  others: readonly number[],
): number {
  enter(building.planner, level);
  const { target } = nested;
  const from = building.steps[parent]!;
  const { by, count, place, parents } = found;
  const set = nested.relationship.pairs.map(({ local, foreign }) => ({
    column: settable(columnOf(target, foreign), nested, place),
    key: keyOf(from, columnOf(from.table, local)),
  }));
  const link = { step: parent, places: parents };
  const change = { kind: 'connect', by, link, set } as const;
  const except = others.map((step) => sameRows(building, target, step));
  return addStep(building, { ...ownStep, table: target, change, count, except, keys: [], place });
}

/** The rows of another step for the same table. */
function sameRows({ steps }: Building, table: Table, step: number): Within {
  const pairs = table.primaryKey.map((number) => {
    const column = columnOf(table, number);
    return { column, of: column, key: keyOf(steps[step]!, column) };
  });
  return { step, pairs };
}

const ownStep = { within: null, except: null, keepsRows: null } as const;

function settable(column: Column, { field }: NestedField, place: ConnectedRows['place']): Column {
  if (column.updatable) return column;
  const message = `"${field.name}" sets "${column.fieldName ?? column.name}", which the role may not change.`;
  const input = typeof place === 'string' ? place : printPath(place);
  throw badInput(message, { extensions: { input } });
}

/** An entry of an update for related rows, with its members by origin. */
export interface NestedInputs extends NestedField {
  readonly entry: Input;
  readonly inputs: ReadonlyMap<InputFieldOrigin['kind'], Input>;
}

/** Whether the input has a value. */
export function isGiven(input: Input | undefined): input is Input {
  return input?.state() === 'value';
}

/** What an update does with the foreign key of a to-one relationship. */
interface ToOneLink {
  readonly each: NestedInputs;
  readonly links: readonly KeptAssignment[];
  readonly nulls: readonly Assignment[];
}

/** Whether the entry of a to-one relationship removes the link. Refuses an entry of several ways. */
export function isDisconnected({ inputs, entry, field }: NestedInputs): boolean {
  const disconnected = inputs.get('nested_disconnect');
  const empties = isGiven(disconnected) && disconnected.choice() === 'true';
  const others = (['nested_insert', 'nested_connect', 'nested_update'] as const).map((kind) =>
    isGiven(inputs.get(kind)),
  );
  if ([...others, empties].filter((isTaken) => isTaken).length > 1) {
    throw refuseInput(`"${field.name}" takes one of "insert", "connect", "update" and "disconnect".`, entry);
  }
  return empties;
}

/** Plans the entry for the row that others refer to, but for an update of it. @param insert Adds the step of an insert. */
export function planToOne(
  building: Building,
  { table, level }: { readonly table: Table; readonly level: number },
  each: NestedInputs,
  insert: (objects: Input, onConflict: Input | null) => number,
): Pick<ToOneLink, 'links' | 'nulls'> {
  const { inputs, entry, relationship } = each;
  const [inserted, connected] = [inputs.get('nested_insert'), inputs.get('nested_connect')];
  if (isDisconnected(each)) return { links: [], nulls: emptied(table, each, entry) };
  const found = isGiven(connected) ? documentConnected([connected], each, connected.place()) : [];
  const step = isGiven(inserted)
    ? insert(inserted, inputs.get('on_conflict') ?? null)
    : found.map((rows) => addFound(building, { nested: each, found: rows, level }))[0];
  if (step === undefined) return { links: [], nulls: [] };
  const from = building.steps[step]!;
  const links = relationship.pairs.map(({ local, foreign }) => ({
    column: settable(columnOf(table, local), each, entry.place()),
    step,
    key: keyOf(from, columnOf(from.table, foreign)),
  }));
  return { links, nulls: [] };
}

/** The changes of an update with those of its links. Refuses two links that set the same columns. */
export function joinLinks(set: readonly Assignment[], linked: readonly ToOneLink[]) {
  const takenBy = new Map<Column, NestedInputs>();
  const links: KeptAssignment[] = [];
  const nulls: Assignment[] = [];
  for (const { each, ...own } of linked) {
    const changes = [...own.links, ...own.nulls];
    const shared = changes.filter(({ column }) => takenBy.has(column));
    // A constraint makes sure that both keys are equal in the columns that they share.
    if (shared.length > 0 && (shared.length === changes.length || !isDeclared(each.relationship))) {
      throw refuseGiven(each.field.name, takenBy.get(shared[0]!.column)!, each.entry.place());
    }
    links.push(...own.links.filter(({ column }) => !takenBy.has(column)));
    nulls.push(...own.nulls.filter(({ column }) => !takenBy.has(column)));
    for (const { column } of changes) takenBy.set(column, each);
  }
  return { set: [...set, ...nulls], links };
}

/**
 * Nulls for the foreign key in `holder`. Those of several columns keep the ones that other foreign keys share: the row stays
 * that of its tenant.
 */
export function emptied(holder: Table, { relationship, field }: NestedField, entry: Input): readonly Assignment[] {
  const { pairs, direction, id } = relationship;
  const others = holder.relationships.filter((other) => other.direction === 'outbound' && other.id !== id);
  const shared = new Set(others.flatMap((other) => other.pairs.map(({ local }) => local)));
  const columns = pairs
    .map(({ local, foreign }) => columnOf(holder, direction === 'outbound' ? local : foreign))
    .filter(
      ({ neverNull, updatable, number }) => !neverNull && updatable && (pairs.length === 1 || !shared.has(number)),
    );
  if (columns.length === 0) {
    const message = `"${field.name}" cannot be disconnected: its foreign key takes no null, or the role may not change it.`;
    throw refuseInput(message, entry);
  }
  return columns.map((column) => ({ column, operator: 'set', slot: { kind: 'constant', value: null } }));
}

/** What keeps related rows from being replaced. */
const keeping: ReadonlySet<InputFieldOrigin['kind']> = new Set(['nested_insert', 'nested_connect', 'nested_update']);

/** Plans what happens to the related rows that the steps `kept` have not written. */
export function planReplace(
  building: Building,
  { inputs, entry, ...nested }: NestedInputs,
  within: Within,
  kept: readonly number[],
): void {
  const replace = inputs.get('nested_replace');
  if (!isGiven(replace)) return;
  const absent = entry.absentFields().find((field) => keeping.has(inputFieldOrigin(field).kind));
  if (absent !== undefined) {
    const message = `The variable of "${absent.name}" is absent: "replace" would remove more rows. Send a list, or null for none.`;
    throw refuseInput(message, replace);
  }
  const { target } = nested;
  const deletes = replace.choice() === 'DELETE';
  if (deletes && !target.delete)
    throw refuseInput(`The role may not delete the rows of "${nested.field.name}".`, replace);
  const limit = inputs.get('replace_at_most');
  limit?.requireValue();
  const atMost = limit?.isGiven() ? limit.slot() : ({ kind: 'constant', value: String(replacedAtMost) } as const);
  const change: WriteChange = deletes
    ? { kind: 'delete', filter: null, atMost }
    : { kind: 'update', set: emptied(target, nested, replace), links: [], filter: null, atMost };
  const except = kept.map((step) => sameRows(building, target, step));
  addStep(building, {
    ...ownStep,
    table: target,
    change,
    count: null,
    within,
    except,
    keys: [],
    place: replace.place(),
  });
}
