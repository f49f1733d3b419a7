/**
 * Plans `groups` of a connection: keys, condition, order and limit of groups (docs/aggregates.md).
 *
 * Refuses invalid keys: none, a repeated column, units and time zones that do not fit the column, and an order by a
 * column that is not a key.
 */
import type { GraphQLInputField } from 'graphql';
import { invariant } from '../../../shared/invariant.ts';
import { type Column, comparedAs, type Relationship, type Table } from '../../model/model.ts';
import { inputFieldOrigin } from '../../schema/origin.ts';
import { type Input, refuseInput } from '../input/input.ts';
import { spend } from '../input/plan-budget.ts';
import type { GroupKey, GroupKeys, GroupsPlan, GroupTerm, LimitPlan, OrderExpression } from './plan.ts';
import { aggregatedColumn } from './plan-aggregate.ts';
import { planFilter } from './plan-filter.ts';
import { addExpressionCost, allRows, directionOf, readColumn } from './plan-order.ts';
import { planLimit, planOffset } from './plan-page.ts';
import { planAggregateConditions } from './plan-related-aggregate.ts';
import {
  type Inputs,
  inputOf,
  type MergedFields,
  type Nesting,
  objectTypeOf,
  type Planner,
  planFields,
} from './planner.ts';

type UnselectedGroups = Omit<GroupsPlan, 'entries'>;

/** Plans the arguments. @param nesting Below the connection. */
export function planGroups(planner: Planner, table: Table, inputs: Inputs, nesting: Nesting): UnselectedGroups {
  // All rows of each parent are read.
  const above = nesting.pages.slice(0, -1);
  const keys = planKeyList(planner, { ...nesting, pages: [...above, allRows] }, inputOf(inputs, 'group_by'), table);
  const first = planNumber('first', inputOf(inputs, 'first_groups'));
  const offset = planNumber('offset', inputOf(inputs, 'group_offset'));
  const limit: LimitPlan = first ? planLimit(first, table.maxRows) : { kind: 'constant', value: table.maxRows };
  planner.costs.push([...above, allRows], [...above, limit]);
  return {
    keys,
    having: planHaving(planner, nesting, table, inputs),
    order: planGroupOrder(planner, table, keys, inputs),
    limit,
    offset: offset && planOffset(offset),
  };
}

/** The input of a number of rows, null if there is none. */
export function planNumber(name: string, input: Input): Input | null {
  if (input.state() !== 'value') return null;
  if (input.isNegative()) throw refuseInput(`\`${name}\` must be an unsigned integer`, input);
  return input;
}

/** A way through to-one relationships: what a column at its end is to the grouped row. */
type Way = (column: OrderExpression) => OrderExpression;

/** The grouped row, or one that a way leads to. */
interface Place {
  readonly table: Table;
  readonly way: Way;
}

const atRow = (table: Table): Place => ({ table, way: (expression) => expression });

/** The row that a relationship leads to. */
function furtherBy({ relationship, target }: Related, { table: from, way }: Place): Place {
  const related = { relationship, from, table: target, condition: null };
  return { table: target, way: (expression) => way({ kind: 'related', related, expression }) };
}

interface Related {
  readonly relationship: Relationship;
  readonly target: Table;
}

/** Whether both lead to the same column in the same way. */
function isSame(one: OrderExpression, other: OrderExpression): boolean {
  if (one.kind === 'related' && other.kind === 'related')
    return one.related.relationship === other.related.relationship && isSame(one.expression, other.expression);
  return one.kind === 'column' && other.kind === 'column' && one.column === other.column;
}

/** Plans the selections of `key`. */
export function planKeys(
  planner: Planner,
  keys: readonly GroupKey[],
  field: MergedFields,
  at: Place | Table,
): GroupKeys {
  const place = 'way' in at ? at : atRow(at);
  let isKey = false;
  const entries = planFields(planner, objectTypeOf(field.definition), field.nodes, (entry) => {
    const { origin } = entry;
    if (origin.kind === 'group_related') {
      const below = planKeys(planner, keys, entry, furtherBy(origin, place));
      isKey ||= below.entries !== null;
      return below;
    }
    invariant(origin.kind === 'group_key', 'keys are columns');
    const expression = place.way({ kind: 'column', column: origin.column });
    const index = keys.findIndex((key) => isSame(key.expression, expression));
    isKey ||= index >= 0;
    return { kind: 'key', index: index < 0 ? null : index } as const;
  });
  return { kind: 'keys', entries: isKey || field.origin.kind === 'group_keys' ? entries : null };
}

function planKeyList(planner: Planner, nesting: Nesting, by: Input, table: Table): readonly GroupKey[] {
  const keys: GroupKey[] = [];
  if (by.state() === 'value') {
    for (const item of by.items()) {
      const key = planKey(item, atRow(table));
      if (keys.some(({ expression }) => isSame(expression, key.expression))) {
        throw refuseInput(`"by" names "${key.column.fieldName}" twice. Rows are grouped by a column once.`, item);
      }
      addExpressionCost(planner, nesting, key.expression);
      keys.push(key);
    }
  }
  if (keys.length === 0) throw refuseInput('"by" is empty. Name at least one column.', by);
  return keys;
}

function planKey(item: Input, place: Place): GroupKey {
  const fields = item.fields().filter(({ input }) => input.state() === 'value');
  const given = new Map(fields.map(({ field, input }) => [inputFieldOrigin(field).kind, input]));
  const related = fields.flatMap(({ field, input }) => {
    const origin = inputFieldOrigin(field);
    return origin.kind === 'group_related' ? [{ origin, input }] : [];
  });
  const column = given.get('group_column');
  const [first] = related;
  if (related.length + (column ? 1 : 0) !== 1) throw refuseInput('A key of "by" is one column: give one.', item);
  const units = [given.get('truncate'), given.get('time_zone')] as const;
  if (first === undefined) return planColumn(readColumn(place.table, column!), place.way, units);
  const misplaced = units.find((unit) => unit !== undefined);
  if (misplaced) throw refuseInput('"truncate" and "timeZone" stand beside "column".', misplaced);
  return planKey(first.input, furtherBy(first.origin, place));
}

function planColumn(
  column: Column,
  way: Way,
  [truncate, timeZone]: readonly [truncate: Input | undefined, timeZone: Input | undefined],
): GroupKey {
  const key = { expression: way({ kind: 'column', column }), column };
  const { namespace, name } = comparedAs(column.cast);
  const type = namespace === 'pg_catalog' ? name : '';
  if (timeZone && (!truncate || type !== 'timestamptz')) {
    throw refuseInput('"timeZone" is for columns of timestamp with time zone that are truncated.', timeZone);
  }
  if (!truncate) return { ...key, truncate: null };
  const unit = truncate.choice();
  if (!unitsOf(type).includes(unit)) {
    throw refuseInput(`"${column.fieldName}" cannot be truncated to ${unit.toUpperCase()}.`, truncate);
  }
  return { ...key, truncate: { unit, zone: timeZone ? planZone(timeZone) : null } };
}

const ofDates = ['year', 'quarter', 'month', 'week', 'day'];
const ofTimes = ['hour', 'minute'];

function unitsOf(type: string): readonly string[] {
  if (type === 'date') return ofDates;
  if (type === 'time') return ofTimes;
  return type === 'timestamp' || type === 'timestamptz' ? [...ofDates, ...ofTimes] : [];
}

function planZone(input: Input) {
  if (input.ask({ kind: 'time_zone' }) === 'ok') return input.slot();
  throw refuseInput('"timeZone" is the name of a time zone, such as "Europe/Zurich".', input);
}

function planHaving(planner: Planner, nesting: Nesting, table: Table, inputs: Inputs): GroupsPlan['having'] {
  const having = inputs.find(({ origin }) => origin.kind === 'having')?.input;
  if (having?.state() !== 'value') return null;
  const entries = having.fields().filter(({ input }) => input.state() === 'value');
  const filter = entries.find(({ field }) => inputFieldOrigin(field).kind === 'related_filter');
  const condition = planAggregateConditions(
    planner,
    entries.filter((entry) => entry !== filter),
  );
  const counted = filter === undefined ? null : planFilter(planner, nesting, table, filter.input);
  return condition && { condition, counted };
}

function planGroupOrder(
  planner: Planner,
  table: Table,
  keys: readonly GroupKey[],
  inputs: Inputs,
): readonly GroupTerm[] {
  const orderBy = inputs.find(({ origin }) => origin.kind === 'group_order_by')?.input;
  const terms: GroupTerm[] = [];
  if (orderBy?.state() === 'value') {
    for (const element of orderBy.items()) {
      if (element.state() !== 'value') continue;
      for (const { field, input } of element.fields()) {
        if (input.state() === 'value') terms.push(...planTerms(planner, table, keys, { field, input }));
      }
    }
  }
  const rest = [...keys.keys()].filter((index) => !terms.some(({ of }) => of === index));
  return [...terms, ...rest.map((of) => ({ of, descending: false, nullsFirst: false }))];
}

interface Entry {
  readonly field: GraphQLInputField;
  readonly input: Input;
}

function planTerms(
  planner: Planner,
  table: Table,
  keys: readonly GroupKey[],
  { field, input }: Entry,
): readonly GroupTerm[] {
  const origin = inputFieldOrigin(field);
  if (origin.kind === 'count') return [planTerm(planner, { kind: 'count' }, input)];
  if (origin.kind === 'group_keys') return planKeyTerms(planner, atRow(table), keys, input);
  invariant(origin.kind === 'aggregate_function', 'groups are ordered by keys and aggregates');
  return input.fields().flatMap((entry) => {
    if (entry.input.state() !== 'value') return [];
    const column = aggregatedColumn(origin.function, entry.field, entry.input);
    return [planTerm(planner, { kind: 'aggregate', function: origin.function, column }, entry.input)];
  });
}

function planKeyTerms(planner: Planner, place: Place, keys: readonly GroupKey[], order: Input): readonly GroupTerm[] {
  return order.fields().flatMap(({ field, input }) => {
    if (input.state() !== 'value') return [];
    const of = inputFieldOrigin(field);
    if (of.kind === 'related_order' && of.relationship.cardinality === 'one') {
      spend(planner.budget, 'inputs');
      return planKeyTerms(planner, furtherBy(of, place), keys, input);
    }
    const expression = of.kind === 'column' ? place.way({ kind: 'column', column: of.column }) : null;
    const index = keys.findIndex((key) => expression !== null && isSame(key.expression, expression));
    if (index < 0) throw refuseInput(`Groups cannot be ordered by "${field.name}", which is not in "by".`, input);
    return [planTerm(planner, index, input)];
  });
}

function planTerm(planner: Planner, of: GroupTerm['of'], input: Input): GroupTerm {
  spend(planner.budget, 'inputs');
  return { of, ...directionOf(input) };
}
