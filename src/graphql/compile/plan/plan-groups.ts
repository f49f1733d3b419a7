/**
 * Plans `groups` of a connection: keys, condition, order and limit of groups (docs/aggregates.md).
 *
 * Refuses invalid keys: none, a repeated column, units and time zones that do not fit the column, and an order by a
 * column that is not a key.
 */
import type { GraphQLInputField } from 'graphql';
import { type Column, comparedAs, type Table } from '../../model/model.ts';
import { inputFieldOrigin } from '../../schema/origin.ts';
import { type Input, refuseInput } from '../input/input.ts';
import { spend } from '../input/plan-budget.ts';
import type { GroupKey, GroupsPlan, GroupTerm, LimitPlan } from './plan.ts';
import { aggregatedColumn } from './plan-aggregate.ts';
import { planFilter } from './plan-filter.ts';
import { allRows, columnOf, directionOf } from './plan-order.ts';
import { planLimit, planOffset } from './plan-page.ts';
import { planAggregateConditions } from './plan-related-aggregate.ts';
import { type Inputs, inputOf, type Nesting, type Planner } from './planner.ts';

type UnselectedGroups = Omit<GroupsPlan, 'entries'>;

/** Plans the arguments. @param nesting Below the connection. */
export function planGroups(planner: Planner, table: Table, inputs: Inputs, nesting: Nesting): UnselectedGroups {
  const keys = planKeys(inputOf(inputs, 'group_by'), table);
  const first = planNumber('first', inputOf(inputs, 'first_groups'));
  const offset = planNumber('offset', inputOf(inputs, 'group_offset'));
  const limit: LimitPlan = first ? planLimit(first, table.maxRows) : { kind: 'constant', value: table.maxRows };
  // All rows of each parent are read.
  const above = nesting.pages.slice(0, -1);
  planner.costs.push([...above, allRows], [...above, limit]);
  return {
    keys,
    having: planHaving(planner, nesting, table, inputs),
    order: planGroupOrder(planner, keys, inputs),
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

/** Plans the selection of `key`. */
export function planKeyEntry(keys: readonly GroupKey[], column: Column) {
  const index = keys.findIndex((key) => key.column.number === column.number);
  return { kind: 'key', index: index < 0 ? null : index } as const;
}

function planKeys(by: Input, table: Table): readonly GroupKey[] {
  const keys: GroupKey[] = [];
  if (by.state() === 'value') {
    for (const item of by.items()) {
      const key = planKey(item, table);
      if (keys.some(({ column }) => column === key.column)) {
        throw refuseInput(`"by" names "${key.column.fieldName}" twice. Rows are grouped by a column once.`, item);
      }
      keys.push(key);
    }
  }
  if (keys.length === 0) throw refuseInput('"by" is empty. Name at least one column.', by);
  return keys;
}

function planKey(item: Input, table: Table): GroupKey {
  const given = new Map(item.fields().map(({ field, input }) => [inputFieldOrigin(field).kind, input]));
  const column = columnOf(table, Number(given.get('group_column')!.choice()));
  const [truncate, timeZone] = (['truncate', 'time_zone'] as const).map((kind) => {
    const input = given.get(kind);
    return input?.state() === 'value' ? input : null;
  });
  const { namespace, name } = comparedAs(column.cast);
  const type = namespace === 'pg_catalog' ? name : '';
  if (timeZone && (!truncate || type !== 'timestamptz')) {
    throw refuseInput('"timeZone" is for columns of timestamp with time zone that are truncated.', timeZone);
  }
  if (!truncate) return { column, truncate: null };
  const unit = truncate.choice();
  if (!unitsOf(type).includes(unit)) {
    throw refuseInput(`"${column.fieldName}" cannot be truncated to ${unit.toUpperCase()}.`, truncate);
  }
  return { column, truncate: { unit, zone: timeZone ? planZone(timeZone) : null } };
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

function planGroupOrder(planner: Planner, keys: readonly GroupKey[], inputs: Inputs): readonly GroupTerm[] {
  const orderBy = inputs.find(({ origin }) => origin.kind === 'group_order_by')?.input;
  const terms: GroupTerm[] = [];
  if (orderBy?.state() === 'value') {
    for (const element of orderBy.items()) {
      if (element.state() !== 'value') continue;
      for (const { field, input } of element.fields()) {
        if (input.state() === 'value') terms.push(...planTerms(planner, keys, field, input));
      }
    }
  }
  const rest = [...keys.keys()].filter((index) => !terms.some(({ of }) => of === index));
  return [...terms, ...rest.map((of) => ({ of, descending: false, nullsFirst: false }))];
}

function planTerms(
  planner: Planner,
  keys: readonly GroupKey[],
  field: GraphQLInputField,
  input: Input,
): readonly GroupTerm[] {
  const origin = inputFieldOrigin(field);
  if (origin.kind === 'count') return [planTerm(planner, { kind: 'count' }, input)];
  return input.fields().flatMap((entry) => {
    if (entry.input.state() !== 'value') return [];
    if (origin.kind === 'aggregate_function') {
      const column = aggregatedColumn(origin.function, entry.field, entry.input);
      return [planTerm(planner, { kind: 'aggregate', function: origin.function, column }, entry.input)];
    }
    const of = inputFieldOrigin(entry.field);
    const index = keys.findIndex(({ column }) => of.kind === 'column' && column.number === of.column.number);
    if (index < 0)
      throw refuseInput(`Groups cannot be ordered by "${entry.field.name}", which is not in "by".`, entry.input);
    return [planTerm(planner, index, entry.input)];
  });
}

function planTerm(planner: Planner, of: GroupTerm['of'], input: Input): GroupTerm {
  spend(planner.budget, 'inputs');
  return { of, ...directionOf(input) };
}
