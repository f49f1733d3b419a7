/**
 * Plans an insert: its columns, the values of objects that use different defaults (docs/mutations.md), what happens to rows that
 * are there already (docs/upsert.md), and the related rows that are inserted as well (docs/nested-writes.md).
 *
 * Refuses too different `objects`, columns that relationships set, rows that would keep other related rows, and too many
 * levels.
 */
import type { FieldNode } from 'graphql';
import { isUpsertable } from '../../../model/extensions/conflict-targets.ts';
import type { Column, Table } from '../../../model/model.ts';
import { type Input, refuseInput } from '../../input/input.ts';
import { type PlanBudget, spendAgain, spentSince } from '../../input/plan-budget.ts';
import { maxCells } from '../../input/row-keys.ts';
import type { RowKey, Slot } from '../../input/slot.ts';
import type { ConflictPlan, InsertCell, InsertChange, WritePlan } from '../plan.ts';
import type { NestedField } from '../plan-connected.ts';
import { columnOf } from '../plan-order.ts';
import { type PlannedRows, planObjects, type RelatedObjects, refuseKeys } from '../plan-rows.ts';
import { locate, type Planner } from '../planner.ts';
import type { InsertColumn, InsertLink } from './nested-writes.ts';
import { mayKeepRows, mayMeetHidden, planConflict } from './plan-conflict.ts';
import { addConnected, addFound } from './plan-links.ts';
import {
  addStep,
  type Building,
  type BuiltStep,
  enter,
  finish,
  isDeclared,
  keyOf,
  slotOf,
} from './plan-nested-steps.ts';

/** What is written, and its fields, for messages. */
export interface WriteTarget {
  readonly planner: Planner;
  readonly table: Table;
  readonly nodes: readonly FieldNode[];
  /** The answer is the number of rows alone. */
  readonly isCounted: boolean;
}

/** Plans the insert of `objects`, and of what is nested in them. @param onConflict A *B*`OnConflict`; null: the table has none. */
export function planInsert(
  { planner, table, nodes, isCounted }: WriteTarget,
  objects: Input,
  onConflict: Input | null,
): Pick<WritePlan, 'change' | 'nested'> {
  const steps: BuiltStep[] = [];
  const rows = planObjects(objects);
  const root = planStep(
    { planner, nodes, steps, known: [] },
    { table, rows, place: objects.place(), level: 0, parent: null, onConflict },
  );
  return { change: steps[root]!.change as InsertChange, nested: finish(steps, root, isCounted) };
}

/** Objects at one place of the input. */
interface Level {
  readonly table: Table;
  readonly rows: PlannedRows;
  /** The place of all of them; null: the one of the rows. */
  readonly place: string | null;
  /** Number of objects that they are nested in. */
  readonly level: number;
  /** Of rows that refer to the one they are nested in. */
  readonly parent: { readonly step: number; readonly nested: NestedField; readonly places: Slot } | null;
  /** A *B*`OnConflict`. */
  readonly onConflict: Input | null;
}

/** Adds the steps of the rows that these refer to, of these, and of those that refer to them. @returns Its own number. */
export function planStep(building: Building, at: Level): number {
  const { table, rows, level, parent } = at;
  const { planner, steps, known } = building;
  const setters = new Setters(table, rows);
  if (parent !== null) setters.addParent(steps[parent.step]!, parent);
  const inner = findNested(rows, setters);
  const below = (nested: NestedField, objects: RelatedObjects, own: Level['parent']): number => {
    enter(planner, level);
    const { rows: inserted, onConflict } = objects;
    const inside = { table: nested.target, rows: inserted, place: null, level: level + 1, parent: own, onConflict };
    return planStep(building, inside);
  };
  for (const { nested, related } of inner) {
    if (nested.relationship.direction !== 'outbound') continue;
    const { connected, isEvery } = related;
    const { objects, elsewhere } = related.inserted(known);
    const sources = [...elsewhere];
    if (objects !== null) {
      const step = below(nested, objects, null);
      if (objects.known !== null) known.push({ ...objects.known, step });
      sources.push({ step, places: objects.links });
    }
    for (const found of connected)
      sources.push({ step: addFound(building, { nested, found, level }), places: found.links });
    setters.addReferenced(steps, sources, nested, isEvery);
  }
  const change = planChange(building, at, setters);
  const keepsRows = mayKeepRows(change.conflict) ? at.onConflict : null;
  const count = slotOf(rows.count);
  const own = { table, change, count, within: null, except: null, keys: [], place: rows.place, keepsRows };
  const step = addStep(building, own);
  for (const { nested, related } of inner) {
    if (nested.relationship.direction === 'outbound') continue;
    const { objects } = related.inserted(known);
    addConnected(building, { nested, connected: related.connected, level }, step);
    if (objects !== null) below(nested, objects, { step, nested, places: objects.parents });
  }
  return step;
}

function planChange({ planner, nodes }: Building, { table, rows, place, level, onConflict }: Level, setters: Setters) {
  const before = { ...planner.budget };
  const objects = { place: { input: place, locations: locate(nodes) }, count: rows.count, depth: level + 1 };
  const conflict = onConflict && planConflict(planner, table, onConflict, objects);
  const spent = spentSince(before, planner.budget);
  if (conflict !== null) setters.assertUpdated(conflict, onConflict!);
  // The filter is printed twice.
  if (conflict !== null && mayMeetHidden(conflict)) spendAgain(planner.budget, spent, 1);
  return planColumns(planner.budget, rows, setters, conflict);
}

function findNested(rows: PlannedRows, setters: Setters) {
  return rows.nested.flatMap((nested) => {
    if (!rows.keys.has(nested.field.name)) return [];
    const related = rows.related(nested, setters.excludedBy(nested));
    if (related === null) return [];
    setters.assertFree(nested);
    return [{ nested, related }];
  });
}

/** What sets the columns of foreign keys: the rows of other steps. */
class Setters {
  readonly links: InsertLink[] = [];
  readonly kept = new Map<
    Column,
    { readonly link: number; readonly key: number; readonly fieldName: string | null }[]
  >();
  readonly #table: Table;
  readonly #rows: PlannedRows;
  #parent: NestedField | null = null;

  constructor(table: Table, rows: PlannedRows) {
    this.#table = table;
    this.#rows = rows;
  }

  /** The rows that these are nested in, and refer to. */
  addParent(from: BuiltStep, { step, nested, places }: NonNullable<Level['parent']>): void {
    this.#parent = nested;
    const link = this.links.push({ step, places, isEvery: true }) - 1;
    for (const { local, foreign } of nested.relationship.pairs) {
      const column = columnOf(this.#table, foreign);
      const fieldName = this.nameOf(column);
      if (this.#rows.keys.has(fieldName)) throw this.#rows.refuseColumn(fieldName, nested);
      this.#add(column, { link, key: keyOf(from, columnOf(from.table, local)), fieldName: null });
    }
  }

  /** Rows that are nested in these, which refer to them; of several steps, each object has one of one step. */
  addReferenced(
    steps: readonly BuiltStep[],
    sources: readonly Pick<InsertLink, 'step' | 'places'>[],
    nested: NestedField,
    isEvery: boolean,
  ): void {
    const { field, relationship } = nested;
    const isTaken = relationship.pairs.some(({ local }) => this.kept.has(columnOf(this.#table, local)));
    if (isTaken && !isDeclared(relationship)) throw this.#rows.refuseColumn(field.name, nested);
    for (const { step, places } of sources) {
      const link = this.links.push({ step, places, isEvery: isEvery && sources.length === 1 }) - 1;
      const from = steps[step]!;
      for (const { local, foreign } of relationship.pairs) {
        const key = keyOf(from, columnOf(from.table, foreign));
        this.#add(columnOf(this.#table, local), { link, key, fieldName: field.name });
      }
    }
  }

  /** The names that an object must not have beside the nested one. */
  excludedBy({ relationship: { direction, pairs } }: NestedField): readonly string[] {
    return direction === 'outbound' ? pairs.map(({ local }) => this.nameOf(columnOf(this.#table, local))) : [];
  }

  /** Refuses a relationship whose columns the rows above have set. */
  assertFree({ field, relationship }: NestedField): void {
    if (relationship.direction !== 'outbound') return;
    const set = relationship.pairs.filter(({ local }) => this.kept.has(columnOf(this.#table, local)));
    // A constraint makes sure that both keys are equal in the columns that they share.
    const isShared = set.length > 0 && (set.length === relationship.pairs.length || !isDeclared(relationship));
    if (isShared) throw this.#rows.refuseColumn(field.name, this.#parent!);
  }

  /** Refuses updates of rows that would not get the foreign key: they may belong to other rows. */
  assertUpdated({ target, update }: ConflictPlan, onConflict: Input): void {
    if (update.length === 0) return;
    const isKey = ({ number }: Column) =>
      target.keys.some((key) => key.length === 1 && key[0]!.kind === 'column' && key[0]!.number === number);
    const missing = [...this.kept.keys()].find((column) => !update.includes(column) && !isKey(column));
    if (missing === undefined) return;
    const fix = isUpsertable(missing)
      ? `Add "${missing.fieldName}" to updateColumns, or name a constraint with it.`
      : 'Name a constraint with the columns of the foreign key.';
    throw refuseInput(`A row that is there may belong to another one. ${fix}`, onConflict);
  }

  /** The name of a column in the objects; empty if it has none. */
  nameOf(column: Column): string {
    return this.#rows.columns.find((each) => each.column === column)?.fieldName ?? '';
  }

  #add(column: Column, kept: { readonly link: number; readonly key: number; readonly fieldName: string | null }): void {
    this.kept.set(column, [...(this.kept.get(column) ?? []), kept]);
  }
}

interface UsedColumn {
  readonly column: Column;
  readonly key: RowKey;
  /** Whether every object sets it. */
  readonly isEvery: boolean;
}

function planColumns(
  budget: PlanBudget,
  rows: PlannedRows,
  setters: Setters,
  conflict: ConflictPlan | null,
): InsertChange {
  const { links, kept } = setters;
  const keyed = [...kept].map(([column, from]): UsedColumn => {
    const isEvery = from.some(({ link }) => links[link]!.isEvery);
    const related = [...new Set(from.flatMap(({ fieldName }) => fieldName ?? []))];
    return { column, key: { ...ownKey(column, setters.nameOf(column)), related }, isEvery };
  });
  const named = rows.columns
    .filter(({ column, fieldName }) => rows.keys.has(fieldName) && !kept.has(column))
    .map(({ column, fieldName }) => ofValue(column, fieldName, rows));
  const used = [...keyed, ...named].sort((x, y) => x.column.number - y.column.number);
  if (used.length === 0) {
    const [first] = rows.columns;
    if (first !== undefined) used.push(ofValue(first.column, first.fieldName, rows));
  }
  // A default applies only to an insert that leaves out the column. Its text is never printed: parsed again, its names
  // would be looked up in the request's search path.
  const partial = used.filter(({ isEvery, column }) => !isEvery && column.hasDefault);
  const patterns = partial.length === 0 ? [] : rows.patterns(partial.map(({ key }) => key));
  const isDefault = (used: UsedColumn, pattern: string | undefined) => pattern?.[partial.indexOf(used)] === '0';
  const areAlike = patterns.length <= 1;
  if (!areAlike) spendCells(budget, patterns.length * used.length);
  const given = (index: number, { column, key: { fieldName } }: UsedColumn) =>
    rows.keys.has(fieldName) ? rows.value(index, fieldName, isList(column)) : null;
  const cells = (pattern: string, index: number) =>
    used.map((each): InsertCell => (isDefault(each, pattern) ? 'default' : { value: given(index, each) }));
  return {
    kind: 'insert',
    columns: used.map((each) => ({
      ...planColumn(each, rows, kept),
      isOmitted: areAlike && isDefault(each, patterns[0]),
    })),
    links,
    rows: areAlike ? null : patterns.map(cells),
    conflict,
  };
}

function planColumn(
  { column, key, isEvery }: UsedColumn,
  rows: PlannedRows,
  kept: Setters['kept'],
): Omit<InsertColumn, 'isOmitted'> {
  const isNamed = rows.keys.has(key.fieldName) || !kept.has(column);
  const values = isNamed ? rows.values(key.fieldName, isList(column)) : null;
  const isPartial = !isEvery && rows.keys.get(key.fieldName) !== 'all';
  const named = isNamed && isPartial ? rows.presence(ownKey(column, key.fieldName)) : null;
  return { column, values, named, kept: kept.get(column)?.map(({ link, key: of }) => ({ link, key: of })) ?? [] };
}

function ownKey({ generatedKey }: Column, fieldName: string): RowKey {
  return { fieldName, isGenerated: generatedKey, related: [] };
}

function isList({ type }: Column): boolean {
  return type?.kind === 'list';
}

function spendCells(budget: PlanBudget, cells: number): void {
  budget.cells -= cells;
  if (budget.cells >= 0) return;
  const message = `Objects that omit different columns with defaults have more than ${maxCells} values. Send equal keys in all, or fewer objects.`;
  throw refuseKeys(message);
}

function ofValue(column: Column, fieldName: string, rows: PlannedRows): UsedColumn {
  return { column, key: ownKey(column, fieldName), isEvery: rows.keys.get(fieldName) === 'all' };
}
