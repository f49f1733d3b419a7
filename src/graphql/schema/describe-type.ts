/**
 * Descriptions of types, fields and arguments without a database comment (extension `reads`): where pg_graphql
 * has them, and brief, because ten thousand tables repeat them.
 */
import {
  GraphQLEnumType,
  type GraphQLField,
  type GraphQLInputField,
  GraphQLInputObjectType,
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
  isObjectType,
} from 'graphql';
import { aggregateRow } from '../model/codecs.ts';
import { connectionArguments } from '../model/connection-arguments.ts';
import {
  type ArgumentOrigin,
  argumentOrigin,
  type FieldOrigin,
  fieldOrigin,
  type InputFieldOrigin,
  inputFieldOrigin,
} from './origin.ts';
import type { SchemaContext } from './schema-context.ts';

type Texts<Origin extends { readonly kind: string }> = {
  readonly [Kind in Origin['kind']]?: string | ((origin: Origin & { readonly kind: Kind }) => string);
};

const verbs = { insert: 'Adds', update: 'Changes', delete: 'Deletes' } as const;

const fieldTexts: Texts<FieldOrigin> = {
  node: 'The row with this global id.',
  collection: ({ table }) => `Rows of ${table.baseName}, in pages.`,
  by_pk: ({ table }) => `The row of ${table.baseName} with this primary key.`,
  insert: ({ table }) => `Adds rows to ${table.baseName}.`,
  update: ({ table }) => `Changes rows of ${table.baseName}.`,
  update_many: ({ table }) => `Changes rows of ${table.baseName}, one entry after the other.`,
  delete: ({ table }) => `Deletes rows of ${table.baseName}.`,
  row_write: ({ command, table }) => `${verbs[command]} one row of ${table.baseName}, and answers it.`,
  affected_count: 'How many rows were written.',
  records: 'The rows that were written.',
  node_id: 'Global id of the row.',
  rank: ({ column }) => `How well ${column.fieldName} fits a search; null where it has no value.`,
  nodes: 'The rows of the page, without cursors.',
  total_count: 'How many rows match the filter.',
  aggregate: 'Aggregates over the rows that match the filter.',
  aggregate_count: 'How many rows match the filter.',
  aggregate_function: (origin) => `${aggregateRow(origin.function).description}, of each column.`,
  distinct_counts: 'How many different values each column has.',
  groups: 'The rows that match the filter, in groups of equal values.',
  group_keys: 'What the rows of a group have in common.',
  group_related: ({ target }) => `What their related rows of ${target.baseName} have in common.`,
};

/** Of an update, as arguments or as entries of a list of updates. */
const changeTexts = {
  filter: 'Rows that match.',
  set: 'New values. Columns that are left out stay as they are.',
  increment: 'Add to these numbers.',
  append: 'Add at the end of these lists and texts, or merge into these objects.',
  prepend: 'Add at the beginning of these lists.',
  remove: 'Take these elements out of lists, and these keys out of objects.',
  at_most: 'Fails where more rows than this match.',
};

const onConflictText = 'What to do with rows that are there already. Without it they are an error.';

const argumentTexts: Texts<ArgumentOrigin> = {
  ...Object.fromEntries(connectionArguments.map(({ kind, description }) => [kind, description])),
  node_id: 'Global id of the row.',
  key: ({ column }) => `The ${column.fieldName} of the row.`,
  objects: 'The rows to add.',
  object: 'The row to add.',
  on_conflict: onConflictText,
  updates: 'The changes, in order.',
  ...changeTexts,
  count_at_most: 'Counts no further than this.',
  count_column: 'Counts the rows with a value in this column.',
  group_by: 'The columns that rows of a group have in common.',
  having: 'Groups that match.',
  group_order_by: 'Order of the groups, before their keys.',
  first_groups: 'The first n groups.',
  group_offset: 'Skip n groups.',
  json_at: 'The part at this path; null where there is none.',
};

const inputFieldTexts: Texts<InputFieldOrigin> = {
  ...changeTexts,
  and: 'All of these hold.',
  or: 'One of these holds.',
  not: 'This does not hold.',
  relationship: ({ relationship, target }) =>
    relationship.cardinality === 'one'
      ? `The related row of ${target.baseName} matches.`
      : `What holds of the related rows of ${target.baseName}.`,
  related_order: ({ relationship, target }) =>
    relationship.cardinality === 'one'
      ? `By the related row of ${target.baseName}.`
      : `By all related rows of ${target.baseName}.`,
  nested: ({ relationship, target }) =>
    relationship.cardinality === 'one'
      ? `The related row of ${target.baseName}, written with this one.`
      : `Related rows of ${target.baseName}, written with this one.`,
  nested_insert: 'What to add.',
  nested_connect: 'Which rows are there already, by a unique key.',
  nested_disconnect: 'Which of them shall no longer refer to this one.',
  nested_replace: 'What becomes of all others.',
  replace_at_most: 'Fails where more others than this are there.',
  row_key: 'The key of the row.',
  on_conflict: onConflictText,
  nested_update: 'Which of them to change, and how.',
  nested_delete: 'Which of them to delete.',
  function: 'What a function computes of the row.',
  some: 'At least one related row matches.',
  every: 'Every related row matches.',
  none: 'No related row matches.',
  any_element: 'At least one element matches.',
  every_element: 'Every element matches.',
  aggregate_filter: 'What holds of all related rows together.',
  related_filter: 'Count and aggregate these related rows only.',
  count: 'How many there are.',
  distinct_counts: 'How many different values each column has.',
  aggregate_function: (origin) => `${aggregateRow(origin.function).description}, of each column.`,
  group_related: ({ target }) => `By the related row of ${target.baseName}.`,
  truncate: 'Cut dates and times down to this.',
  time_zone: 'The time zone in which they are cut down.',
  group_keys: 'The columns that rows are grouped by.',
  conflict_target: 'The unique index that tells whether a row is there.',
  update_columns: 'Columns of that row that get the new values. Without any it stays as it is.',
  conflict_filter: 'Rows that are updated. Others stay as they are.',
};

const rootTexts = {
  Query: 'Reads rows and calls functions that only read.',
  Mutation: 'Writes rows and calls functions that may write.',
  Subscription: 'The fields of Query, answered again whenever the answer changes.',
};

const directionTexts: Readonly<Record<string, string>> = {
  AscNullsFirst: 'Ascending, nulls first.',
  AscNullsLast: 'Ascending, nulls last.',
  DescNullsFirst: 'Descending, nulls first.',
  DescNullsLast: 'Descending, nulls last.',
};

/** Whether the parts shared between namespaces are described. */
export function describesAnything({ model, describes }: SchemaContext): boolean {
  return model.namespaces.some(({ name }) => describes(name));
}

/** The description of a root type, and the describer of its fields. */
export function describeRoot(context: SchemaContext, name: 'Query' | 'Mutation' | 'Subscription') {
  if (!describesAnything(context)) return { description: null, describe: () => {} };
  const describe = (field: GraphQLField<unknown, unknown>): void => {
    const origin = fieldOrigin(field);
    const owner = 'table' in origin ? origin.table : 'routine' in origin ? origin.routine : null;
    if (owner === null || context.describes(owner.namespace)) describeField(field);
  };
  return { description: rootTexts[name], describe };
}

/** Describes a field and its arguments that have no description. */
function describeField(field: GraphQLField<unknown, unknown>): void {
  field.description ??= textOf(fieldTexts, fieldOrigin(field));
  for (const argument of field.args) argument.description ??= textOf(argumentTexts, argumentOrigin(argument));
}

/** Describes the fields of a type that belongs to one schema, on first use. */
export function describeType<T extends GraphQLNamedType>(type: T): T {
  if (isObjectType(type)) {
    whenAsked(type, describeField as (field: never) => void);
  } else if (isInputObjectType(type)) {
    whenAsked(type, ((field: GraphQLInputField) => {
      field.description ??= textOf(inputFieldTexts, inputFieldOrigin(field));
    }) as (field: never) => void);
  }
  return type;
}

/** A described copy of a type shared with other schemas: order directions, and filters. */
export function describeSharedType(type: GraphQLNamedType): GraphQLNamedType {
  if (isEnumType(type)) {
    const { values, ...config } = type.toConfig();
    const described = Object.entries(values).map(([name, value]) => [
      name,
      { ...value, description: directionTexts[name] },
    ]);
    const description = 'Order of values, and the place of nulls.';
    return new GraphQLEnumType({ ...config, description, values: Object.fromEntries(described) });
  }
  if (!isInputObjectType(type)) return type;
  const description = `Conditions on ${type.name.replace(/(List)?Filter$/, (_, list) => (list ? ' lists' : ' values'))}.`;
  return describeType(new GraphQLInputObjectType({ ...type.toConfig(), description }));
}

function whenAsked(type: { getFields(): Readonly<Record<string, unknown>> }, describe: (field: never) => void): void {
  const { getFields } = type;
  let described: Readonly<Record<string, unknown>> | null = null;
  type.getFields = () => {
    if (described === null) {
      described = getFields.call(type);
      for (const field of Object.values(described)) describe(field as never);
    }
    return described;
  };
}

function textOf<Origin extends { readonly kind: string }>(texts: Texts<Origin>, origin: Origin): string | undefined {
  const text = texts[origin.kind as Origin['kind']] as string | ((of: Origin) => string) | undefined;
  return typeof text === 'function' ? text(origin) : text;
}
