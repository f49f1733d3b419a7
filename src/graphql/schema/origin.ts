/**
 * The typed link from a GraphQL field, argument or input field to the model.
 *
 * The schema builder sets it on everything; the planner reads nothing else, so names are decided once.
 */
import type { GraphQLArgument, GraphQLField, GraphQLInputField, GraphQLType } from 'graphql';
import { invariant } from '../../shared/invariant.ts';
import type { AggregateFunction } from '../model/codecs.ts';
import type { ConnectionArgument } from '../model/connection-arguments.ts';
import type { UpdateOperator } from '../model/extensions/update-operators.ts';
import type {
  Column,
  CompositeType,
  Relationship,
  ResultColumn,
  Routine,
  RoutineArgument,
  Table,
  TableKey,
  ValueType,
  WriteCommand,
} from '../model/model.ts';
import type { FilterOperator } from './operators.ts';

/** The origin of an output field. */
export type FieldOrigin =
  | { readonly kind: 'node' }
  | { readonly kind: 'collection'; readonly table: Table }
  | { readonly kind: 'by_pk'; readonly table: Table }
  | { readonly kind: 'routine'; readonly routine: Routine }
  | { readonly kind: 'insert' | 'update' | 'update_many' | 'delete'; readonly table: Table }
  | { readonly kind: 'row_write'; readonly command: WriteCommand; readonly table: Table }
  | { readonly kind: 'affected_count' | 'records'; readonly table: Table }
  | { readonly kind: 'node_id' }
  | { readonly kind: 'column'; readonly column: ResultColumn }
  | { readonly kind: 'relationship'; readonly relationship: Relationship; readonly target: Table }
  | { readonly kind: 'computed'; readonly routine: Routine }
  | { readonly kind: 'rank'; readonly column: Column }
  | { readonly kind: 'edges' | 'nodes' | 'page_info' | 'total_count' | 'aggregate' }
  | { readonly kind: 'cursor' | 'edge_node' }
  | { readonly kind: 'start_cursor' | 'end_cursor' | 'has_next_page' | 'has_previous_page' }
  | { readonly kind: 'aggregate_count' }
  | { readonly kind: 'aggregate_function'; readonly function: AggregateFunction }
  | { readonly kind: 'distinct_counts' }
  | { readonly kind: 'distinct_count' | 'aggregate_column'; readonly column: Column }
  | { readonly kind: 'groups' | 'group_keys' }
  | { readonly kind: 'group_key'; readonly column: Column }
  | { readonly kind: 'group_related'; readonly relationship: Relationship; readonly target: Table };

/** The origin of an input field. */
export type InputFieldOrigin =
  | { readonly kind: 'column'; readonly column: Column }
  | { readonly kind: 'node_id' }
  | { readonly kind: 'and' | 'or' | 'not' }
  | { readonly kind: 'relationship'; readonly relationship: Relationship; readonly target: Table }
  | { readonly kind: 'related_order' | 'group_related'; readonly relationship: Relationship; readonly target: Table }
  | { readonly kind: 'nested'; readonly relationship: Relationship; readonly target: Table }
  | { readonly kind: 'nested_insert' | 'nested_update' | 'nested_delete' | 'nested_connect' | 'on_conflict' }
  | { readonly kind: 'nested_disconnect' | 'nested_replace' | 'replace_at_most' }
  /** A unique key that names a row. */
  | { readonly kind: 'row_key'; readonly key: TableKey }
  | { readonly kind: 'some' | 'every' | 'none' | 'aggregate_filter' }
  | { readonly kind: 'any_element' | 'every_element' }
  | { readonly kind: 'related_filter' | 'count' | 'distinct_counts' }
  | { readonly kind: 'distinct_count' | 'aggregate_column'; readonly column: Column }
  | { readonly kind: 'aggregate_function'; readonly function: AggregateFunction }
  | { readonly kind: 'group_column' | 'truncate' | 'time_zone' | 'group_keys' }
  | SearchOrigin
  | { readonly kind: 'direction' }
  | { readonly kind: 'rank'; readonly column: Column }
  | { readonly kind: 'json_parts' | 'json_path' }
  | { readonly kind: 'set' | UpdateOperator | 'filter' | 'at_most' }
  | { readonly kind: 'function'; readonly routine: Routine; readonly type: ValueType }
  | { readonly kind: 'routine_argument'; readonly argument: RoutineArgument }
  /** An attribute of a composite type. */
  | { readonly kind: 'attribute'; readonly composite: CompositeType }
  | { readonly kind: 'json_part'; readonly as: JsonReading }
  | { readonly kind: 'conflict_target' | 'update_columns' | 'conflict_filter' }
  | { readonly kind: 'operator'; readonly operator: FilterOperator };

/** A part of a text search and of its rank, in an input or as an argument. */
type SearchOrigin =
  | { readonly kind: 'search'; readonly by: SearchLanguage }
  | { readonly kind: 'search_config' | 'normalization' | 'cover_density' };

/** How the text of a search is parsed. */
export type SearchLanguage = 'websearch' | 'plain' | 'phrase' | 'query';

/** The type for comparing a part of a JSON value. */
export type JsonReading = 'text' | 'number' | 'boolean' | 'json';

/** The origin of an argument. */
export type ArgumentOrigin =
  | { readonly kind: ConnectionArgument }
  | { readonly kind: 'node_id' }
  | { readonly kind: 'key'; readonly column: Column }
  | {
      readonly kind:
        | 'objects'
        | 'object'
        | 'on_conflict'
        | 'updates'
        | 'set'
        | UpdateOperator
        | 'at_most'
        | 'count_at_most'
        | 'count_column'
        | 'json_at';
    }
  | SearchOrigin
  | { readonly kind: 'group_by' | 'having' | 'group_order_by' | 'first_groups' | 'group_offset' }
  | { readonly kind: 'routine_argument'; readonly argument: RoutineArgument };

const key = Symbol('pgreflect.origin');

/** The `extensions` object for a GraphQL definition. */
export function withOrigin(origin: FieldOrigin | InputFieldOrigin | ArgumentOrigin): Readonly<Record<symbol, unknown>> {
  // graphql-js copies an object with a prototype, once for each of a million fields.
  return { __proto__: null, [key]: origin } as unknown as Readonly<Record<symbol, unknown>>;
}

/** A type with the origin of its field, input field or argument. */
export function typed<T extends GraphQLType>(type: T, origin: FieldOrigin | InputFieldOrigin | ArgumentOrigin) {
  return { type, extensions: withOrigin(origin) };
}

/** The origin of an output field. */
export function fieldOrigin(field: GraphQLField<unknown, unknown>): FieldOrigin {
  return originOf(field);
}

/** The origin of an argument. */
export function argumentOrigin(argument: GraphQLArgument): ArgumentOrigin {
  return originOf(argument);
}

/** The origin of an input field. */
export function inputFieldOrigin(field: GraphQLInputField): InputFieldOrigin {
  return originOf(field);
}

function originOf<T>({ name, extensions }: { readonly name: string; readonly extensions: object }): T {
  const origin = (extensions as { [key]?: T })[key];
  invariant(origin !== undefined, `${name} has no origin`);
  return origin;
}
