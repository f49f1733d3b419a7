/**
 * Plans a connection: arguments, then edges, page info, total count and aggregates as far as they are selected.
 */
import type { FieldNode, GraphQLField, GraphQLObjectType } from 'graphql';
import type { Table } from '../../model/model.ts';
import { type AggregateFunction, fieldOrigin } from '../../schema/origin.ts';
import { invariant } from '../../shared/invariant.ts';
import { collectFields, selectionSetsOf } from './collect-fields.ts';
import type {
  AggregateColumnEntry,
  AggregateEntry,
  ConnectionEntry,
  ConnectionPlan,
  EdgeEntry,
  PageInfoEntry,
  SetSource,
} from './plan.ts';
import { planFilter } from './plan-filter.ts';
import { planOrder } from './plan-order.ts';
import { planPage } from './plan-page.ts';
import {
  definitionOf,
  descend,
  firstOf,
  inputOf,
  inputsOf,
  objectTypeOf,
  type Place,
  type Planner,
} from './planner.ts';

/** Plans a connection field over the rows of `source`. */
export function planConnection(
  planner: Planner,
  field: {
    readonly source: SetSource;
    readonly definition: GraphQLField<unknown, unknown>;
    readonly fields: readonly FieldNode[];
  },
  place: Place,
): ConnectionPlan {
  const { table } = field.source;
  const inputs = inputsOf(planner, field.definition, firstOf(field.fields));
  // Rows without a column that can be ordered by have no such argument.
  const orderBy = inputs.find(({ origin }) => origin.kind === 'order_by');
  const order = planOrder(planner.budget, table, orderBy?.input ?? null);
  const given = {
    first: inputOf(inputs, 'first'),
    last: inputOf(inputs, 'last'),
    before: inputOf(inputs, 'before'),
    after: inputOf(inputs, 'after'),
    offset: inputOf(inputs, 'offset'),
  };
  const page = planPage(table, given, order.length);
  const filter = planFilter(planner.budget, table, inputOf(inputs, 'filter'));
  const below = descend(planner, place, page.limit);
  const entries = eachField(planner, objectTypeOf(field.definition), field.fields, (key, type, fields) =>
    planConnectionEntry(planner, { key, type, fields, table }, below),
  );
  return { source: field.source, filter, order, page, entries };
}

interface KeyedFields {
  readonly key: string;
  readonly type: GraphQLObjectType;
  readonly fields: readonly FieldNode[];
  readonly table: Table;
}

function planConnectionEntry(planner: Planner, entry: KeyedFields, place: Place): ConnectionEntry {
  const { key, type, fields } = entry;
  const node = firstOf(fields);
  if (node.name.value === '__typename') return { key, kind: 'typename', name: type.name };
  const definition = definitionOf(type, node);
  const { kind } = fieldOrigin(definition);
  switch (kind) {
    case 'total_count':
      return { key, kind };
    case 'edges': {
      const entries = eachField(planner, objectTypeOf(definition), fields, (edgeKey, edgeType, edgeFields) =>
        planEdgeEntry(planner, { key: edgeKey, type: edgeType, fields: edgeFields, table: entry.table }, place),
      );
      return { key, kind, entries };
    }
    case 'page_info':
      return { key, kind, entries: eachField(planner, objectTypeOf(definition), fields, planPageInfoEntry) };
    case 'aggregate': {
      const entries = eachField(planner, objectTypeOf(definition), fields, (aggregateKey, aggregateType, below) =>
        planAggregateEntry(planner, aggregateKey, aggregateType, below),
      );
      return { key, kind, entries };
    }
    default:
      invariant(false, `a ${kind} field cannot stand on ${type.name}`);
  }
}

function planEdgeEntry(planner: Planner, entry: KeyedFields, place: Place): EdgeEntry {
  const { key, type, fields, table } = entry;
  const node = firstOf(fields);
  if (node.name.value === '__typename') return { key, kind: 'typename', name: type.name };
  const definition = definitionOf(type, node);
  if (fieldOrigin(definition).kind === 'cursor') return { key, kind: 'cursor' };
  const row = { type: objectTypeOf(definition), table, place };
  return { key, kind: 'node', object: planner.planObject(planner, row, selectionSetsOf(fields)) };
}

function planPageInfoEntry(key: string, type: GraphQLObjectType, fields: readonly FieldNode[]): PageInfoEntry {
  const node = firstOf(fields);
  if (node.name.value === '__typename') return { key, kind: 'typename', name: type.name };
  const { kind } = fieldOrigin(definitionOf(type, node));
  switch (kind) {
    case 'start_cursor':
    case 'end_cursor':
    case 'has_next_page':
    case 'has_previous_page':
      return { key, kind };
    default:
      invariant(false, `a ${kind} field cannot stand on ${type.name}`);
  }
}

function planAggregateEntry(
  planner: Planner,
  key: string,
  type: GraphQLObjectType,
  fields: readonly FieldNode[],
): AggregateEntry {
  const node = firstOf(fields);
  if (node.name.value === '__typename') return { key, kind: 'typename', name: type.name };
  const definition = definitionOf(type, node);
  const origin = fieldOrigin(definition);
  if (origin.kind === 'aggregate_count') return { key, kind: 'count' };
  invariant(origin.kind === 'aggregate_function', `a ${origin.kind} field cannot stand on ${type.name}`);
  const entries = eachField(planner, objectTypeOf(definition), fields, (columnKey, columnType, below) =>
    planAggregateColumn(columnKey, columnType, below, origin.function),
  );
  return { key, kind: 'function', entries };
}

function planAggregateColumn(
  key: string,
  type: GraphQLObjectType,
  fields: readonly FieldNode[],
  aggregate: AggregateFunction,
): AggregateColumnEntry {
  const node = firstOf(fields);
  if (node.name.value === '__typename') return { key, kind: 'typename', name: type.name };
  const origin = fieldOrigin(definitionOf(type, node));
  invariant(origin.kind === 'aggregate_column', `a ${origin.kind} field cannot stand on ${type.name}`);
  const scalar = origin.column[aggregate];
  invariant(scalar, `${origin.column.name} has no ${aggregate}`);
  return { key, kind: 'column', function: aggregate, column: origin.column, scalar };
}

/** Plans each response key below merged fields. */
export function eachField<T>(
  planner: Planner,
  type: GraphQLObjectType,
  fields: readonly FieldNode[],
  plan: (key: string, type: GraphQLObjectType, fields: readonly FieldNode[]) => T,
): readonly T[] {
  return [...collectFields(planner, type, selectionSetsOf(fields))].map(([key, below]) => plan(key, type, below));
}
