/**
 * Plans the writes of related rows in the `set` of an update (docs/nested-writes.md).
 *
 * Refuses columns that relationships set, and too many levels.
 */
import type { Column, Table } from '../../../model/model.ts';
import { inputFieldOrigin } from '../../../schema/origin.ts';
import { type Input, refuseInput } from '../../input/input.ts';
import type { Slot } from '../../input/slot.ts';
import type { UpdateChange, WritePlan } from '../plan.ts';
import { documentConnected, type NestedField } from '../plan-connected.ts';
import { columnOf } from '../plan-order.ts';
import { planNestedObjects, refuseGiven } from '../plan-rows.ts';
import type { Planner } from '../planner.ts';
import type { Within } from './nested-writes.ts';
import { addRemoved, isChange, planAssignments } from './plan-assignments.ts';
import { planChangedRows } from './plan-changed-rows.ts';
import { planStep, type WriteTarget } from './plan-insert.ts';
import {
  addConnected,
  emptied,
  isDisconnected,
  isGiven,
  joinLinks,
  type NestedInputs,
  planReplace,
  planToOne,
} from './plan-links.ts';
import { addStep, type Building, type BuiltStep, enter, finish, keyOf } from './plan-nested-steps.ts';

/** Adds the writes of related rows to a planned update of `table`. */
export function planRelated(
  planner: Planner,
  { table, nodes, isCounted }: Omit<WriteTarget, 'planner'>,
  change: UpdateChange,
  set: Input,
): Pick<WritePlan, 'change' | 'nested'> {
  const steps: BuiltStep[] = [];
  const root = planUpdateStep(
    { planner, nodes, steps, known: [] },
    { table, change, set: isGiven(set) ? set : null, place: set.place(), level: 0, within: null },
  );
  return { change: steps[root]!.change as UpdateChange, nested: finish(steps, root, isCounted) };
}

interface Level {
  readonly table: Table;
  readonly change: UpdateChange;
  /** Holds entries for related rows; null: there are none. */
  readonly set: Input | null;
  readonly place: string;
  /** Number of updates that it is nested in. */
  readonly level: number;
  readonly within: Within | null;
}

function planUpdateStep(building: Building, { table, change, set, place, level, within }: Level): number {
  const { planner, steps } = building;
  const nested = set === null ? [] : nestedFields(set);
  const toOne = nested.filter(({ relationship }) => relationship.direction === 'outbound');
  const others = nested.filter(({ relationship }) => relationship.direction === 'inbound');
  const linked = toOne.map((each) => {
    enter(planner, level);
    const link = planToOne(building, { table, level }, each, (objects, onConflict) => {
      const { rows } = planNestedObjects(objects)!;
      const inside = { table: each.target, rows, place: null, level: level + 1, parent: null, onConflict };
      return planStep(building, inside);
    });
    const columns = [...link.links, ...link.nulls].map(({ column }) => column);
    refuseSet(set!, change, columns, each);
    return { each, columns, ...link };
  });
  const isOfOne = toOne.some(({ inputs }) => isGiven(inputs.get('nested_insert'))) || others.some(needsOneRow);
  const count: Slot | null = isOfOne ? { kind: 'constant', value: '1' } : null;
  const own = {
    table,
    change: { ...change, ...joinLinks(change.set, linked) },
    count,
    within,
    except: null,
    keys: [],
    place,
    keepsRows: null,
  };
  const number = addStep(building, own);
  for (const { inputs, ...of } of toOne) {
    const entry = inputs.get('nested_update');
    if (!isGiven(entry)) continue;
    planEntry(building, { of, entry, level, within: withinOf(steps[number]!, number, of) });
  }
  for (const each of others) {
    enter(planner, level);
    const plan = each.relationship.cardinality === 'one' ? planOnlyOne : planToMany;
    plan(building, each, { number, level });
  }
  return number;
}

/** Refuses columns that are given beside a link that sets them. */
function refuseSet(set: Input, change: UpdateChange, columns: readonly Column[], nested: NestedField): void {
  refuseKeys(set, columns, nested);
  const other = change.set.find(({ column }) => columns.includes(column));
  if (other !== undefined) throw refuseGiven(other.column.fieldName ?? '', nested, other.operator);
}

/** What needs a row of its own to belong to. */
function needsOneRow({ inputs }: NestedInputs): boolean {
  return (['nested_insert', 'nested_connect', 'nested_replace'] as const).some((kind) => isGiven(inputs.get(kind)));
}

/** The step of the rows that related ones belong to. */
interface Parent {
  readonly number: number;
  readonly level: number;
}

/** Writes the only row that refers to each of the parents. */
function planOnlyOne(building: Building, each: NestedInputs, { number, level }: Parent): void {
  const { inputs, entry, ...of } = each;
  const { target } = of;
  const within = withinOf(building.steps[number]!, number, of);
  if (isDisconnected(each)) {
    const set = emptied(target, of, entry);
    const change = { kind: 'update', set, links: [], filter: null, atMost: { kind: 'constant', value: '1' } } as const;
    addStep(building, {
      table: target,
      change,
      count: null,
      within,
      except: null,
      keys: [],
      place: entry.place(),
      keepsRows: null,
    });
  }
  const updated = inputs.get('nested_update');
  if (isGiven(updated)) planEntry(building, { of, entry: updated, level, within });
  const connected = inputs.get('nested_connect');
  const found = isGiven(connected) ? documentConnected([connected], of, connected.place()) : [];
  addConnected(building, { nested: of, connected: found, level }, number);
  planInserted(building, each, { number, level });
}

/** Inserts related rows. @returns The number of their step, null for none. */
function planInserted(building: Building, { inputs, ...of }: NestedInputs, { number, level }: Parent): number | null {
  const objects = inputs.get('nested_insert');
  const found = isGiven(objects) ? planNestedObjects(objects) : null;
  if (found === null) return null;
  const parent = { step: number, nested: of, places: found.parents };
  const onConflict = inputs.get('on_conflict') ?? null;
  return planStep(building, { table: of.target, rows: found.rows, place: null, level: level + 1, parent, onConflict });
}

/** Writes the related rows of a to-many. */
function planToMany(building: Building, { inputs, ...of }: NestedInputs, { number, level }: Parent): void {
  const { planner, steps } = building;
  const { target } = of;
  const within = withinOf(steps[number]!, number, of);
  const linked = { table: target, count: null, within, except: null, keepsRows: null };
  for (const entry of itemsOf(inputs.get('nested_delete'))) {
    refuseChanges('delete', entry);
    const guards = planGuards(planner, target, level + 1, entry);
    addStep(building, { ...linked, keys: [], change: { kind: 'delete', ...guards }, place: entry.place() });
  }
  const kept: number[] = [];
  for (const entry of itemsOf(inputs.get('nested_update')))
    kept.push(planEntry(building, { of, entry, level, within }));
  for (const entry of itemsOf(inputs.get('nested_disconnect'))) {
    refuseChanges('disconnect', entry);
    const set = emptied(target, of, entry);
    const guards = planGuards(planner, target, level + 1, entry);
    addStep(building, {
      ...linked,
      keys: [],
      change: { kind: 'update', set, links: [], ...guards },
      place: entry.place(),
    });
  }
  const connect = inputs.get('nested_connect');
  const connected = documentConnected([isGiven(connect) ? connect : null], of, `${connect?.place()}[*]`);
  kept.push(...addConnected(building, { nested: of, connected, level }, number));
  const insert = () => planInserted(building, { inputs, ...of }, { number, level });
  // Rows that are new need not be told from those to remove, and may have their keys.
  const meetsRows = isGiven(inputs.get('on_conflict'));
  const inserted = meetsRows ? insert() : null;
  planReplace(building, { inputs, ...of }, within, inserted === null ? kept : [...kept, inserted]);
  if (!meetsRows) insert();
}

/** An entry of updates of related rows. */
interface UpdateEntry {
  readonly of: NestedField;
  readonly entry: Input;
  readonly level: number;
  readonly within: Within;
}

function planEntry(building: Building, { of, entry, level, within }: UpdateEntry): number {
  const { planner } = building;
  const changes = changesIn(entry);
  const guards = planGuards(planner, of.target, level + 1, entry);
  const set = planAssignments(new Map(changes), { withRelated: true, holder: entry });
  const keys = of.relationship.direction === 'inbound' ? within.pairs.map(({ column }) => column) : [];
  const moved = set.find(({ column }) => keys.includes(column));
  if (moved !== undefined) {
    const fieldName = moved.column.fieldName ?? '';
    throw refuseGiven(fieldName, of, `${entry.place()}.${moved.operator}.${fieldName}`);
  }
  addRemoved(planner.budget, set);
  const change = { kind: 'update', set, links: [], ...guards } as const;
  const inner = new Map(changes).get('set') ?? null;
  const place = (inner ?? entry).place();
  return planUpdateStep(building, { table: of.target, change, set: inner, place, level: level + 1, within });
}

/** The changes of columns in an entry. */
function changesIn(entry: Input) {
  return entry.fields().flatMap(({ field, input }) => {
    const { kind } = inputFieldOrigin(field);
    return isChange(kind) && input.state() === 'value' ? [[kind, input] as const] : [];
  });
}

/** Refuses changes in an entry that only chooses rows. */
function refuseChanges(way: 'delete' | 'disconnect', entry: Input): void {
  const [given] = changesIn(entry);
  if (given !== undefined) throw refuseInput(`"${way}" takes "filter" and "atMost", and no "${given[0]}".`, given[1]);
}

function nestedFields(set: Input): readonly NestedInputs[] {
  return set.fields().flatMap(({ field, input }) => {
    const origin = inputFieldOrigin(field);
    if (origin.kind !== 'nested' || input.state() !== 'value') return [];
    const inputs = new Map(input.fields().map((each) => [inputFieldOrigin(each.field).kind, each.input]));
    return [{ field, relationship: origin.relationship, target: origin.target, inputs, entry: input }];
  });
}

// One by one, so that a list of too many is not read to its end.
function* itemsOf(list: Input | undefined): Generator<Input> {
  if (!isGiven(list)) return;
  for (const item of list.items()) if (item.state() === 'value') yield item;
}

function withinOf(from: BuiltStep, step: number, { relationship, target }: NestedField): Within {
  const pairs = relationship.pairs.map(({ local, foreign }) => {
    const of = columnOf(from.table, local);
    return { column: columnOf(target, foreign), of, key: keyOf(from, of) };
  });
  return { step, pairs };
}

function refuseKeys(set: Input, columns: readonly Column[], nested: NestedField): void {
  for (const { field, input } of set.fields()) {
    const origin = inputFieldOrigin(field);
    if (origin.kind === 'column' && columns.includes(origin.column))
      throw refuseGiven(field.name, nested, input.place());
  }
}

function planGuards(planner: Planner, table: Table, level: number, entry: Input) {
  const given = new Map(entry.fields().map(({ field, input }) => [inputFieldOrigin(field).kind, input]));
  const chosen = { filter: given.get('filter'), atMost: given.get('at_most') };
  return planChangedRows({ planner, table, depth: level + 1 }, chosen);
}
