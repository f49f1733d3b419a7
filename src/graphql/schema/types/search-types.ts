/** The inputs over text search columns: their filter, the order by rank, and the rank as a field (docs/extensions.md). */
import {
  type GraphQLFieldConfig,
  type GraphQLInputFieldConfig,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  GraphQLNonNull,
} from 'graphql';
import { rankedColumns } from '../../model/extensions/ranks.ts';
import type { SharedType } from '../../model/extensions/shared-types.ts';
import type { Table, ValueType } from '../../model/model.ts';
import { isSearchable } from '../../model/tables/columns.ts';
import { describesAnything } from '../describe-type.ts';
import { fieldMap } from '../field-map.ts';
import { type SearchLanguage, typed } from '../origin.ts';
import { type SchemaContext, sharedInput } from '../schema-context.ts';
import { filterIsType } from './operator-filters.ts';
import { orderByDirectionType } from './order-by-direction.ts';
import { scalarTypes } from './scalars.ts';

const { Boolean: BooleanType, Float, Int, Opaque, String: StringType } = scalarTypes;

/** Registers the types that the schema has. */
export function defineSearchTypes(context: SchemaContext, tables: readonly Table[]): void {
  const { model, types } = context;
  if (!tables.some(({ sharedTypes }) => sharedTypes.includes('TextSearchFilter'))) return;
  const isDescribed = describesAnything(context);
  const define = (name: SharedType, text: string, fields: () => GraphQLInputFieldConfigMap) => {
    if (!model.addedTypes.includes(name)) return;
    const description = isDescribed ? text : null;
    types.define(name, () => new GraphQLInputObjectType({ name, description, fields }));
  };
  define('TextSearchFilter', 'Conditions on tsvector values.', filterFields);
  define('TextSearchOrder', 'Order by how well tsvector values fit a search.', orderFields);
}

/** The text search filter of a type's values, null if they have their scalar's filter. */
export function searchFilterOf(context: SchemaContext, table: Table, type: ValueType): GraphQLInputObjectType | null {
  return isSearchable(type) && context.hasReads(table.namespace) ? sharedInput(context, 'TextSearchFilter') : null;
}

const languages: readonly SearchLanguage[] = ['websearch', 'plain', 'phrase', 'query'];

const search = (): (readonly [string, GraphQLInputFieldConfig])[] => [
  ...languages.map((by) => [by, typed(StringType, { kind: 'search', by })] as const),
  ['config', typed(StringType, { kind: 'search_config' })],
];

function filterFields() {
  return fieldMap<GraphQLInputFieldConfig>([
    ...search(),
    ['eq', typed(Opaque, { kind: 'operator', operator: 'eq' })],
    ['is', typed(filterIsType, { kind: 'operator', operator: 'is' })],
  ]);
}

const rank = (): (readonly [string, GraphQLInputFieldConfig])[] => [
  ...search(),
  ['normalization', { ...typed(Int, { kind: 'normalization' }), default: { value: 0 } }],
  ['coverDensity', { ...typed(BooleanType, { kind: 'cover_density' }), default: { value: false } }],
];

function orderFields() {
  const direction = typed(new GraphQLNonNull(orderByDirectionType), { kind: 'direction' });
  return fieldMap<GraphQLInputFieldConfig>([
    ...rank(),
    ['direction', { ...direction, default: { value: 'DescNullsLast' } }],
  ]);
}

/** The fields of a row for the ranks of its columns. */
export function rankFields(
  { hasReads, model }: SchemaContext,
  table: Table,
): readonly (readonly [string, GraphQLFieldConfig<unknown, unknown>])[] {
  if (!hasReads(table.namespace)) return [];
  return rankedColumns(table, model.routines).map(([name, column]) => {
    return [name, { ...typed(Float, { kind: 'rank', column }), args: fieldMap(rank()) }] as const;
  });
}
