/**
 * The filter input over columns that a text search looks through (docs/filters.md).
 */
import { type GraphQLInputFieldConfig, GraphQLInputObjectType } from 'graphql';
import { hasSearchFilter } from '../../model/added-names.ts';
import { isSearchable } from '../../model/columns.ts';
import type { Column, Table } from '../../model/model.ts';
import { describesAnything } from '../describe-type.ts';
import { fieldMap } from '../field-map.ts';
import { type SearchLanguage, typed } from '../origin.ts';
import { type SchemaContext, sharedInput } from '../schema-context.ts';
import { filterIsType } from './operator-filters.ts';
import { scalarTypes } from './scalars.ts';

const name = 'TextSearchFilter';
const { Opaque, String: StringType } = scalarTypes;

/** Announces the type, where the schema has it. */
export function defineSearchFilterType(context: SchemaContext, tables: readonly Table[]): void {
  const { model, types } = context;
  const uses = (table: Table) => hasSearchFilter(table) && context.offers(table.namespace, 'text_search');
  if (!model.addedTypes.includes(name) || !tables.some(uses)) return;
  const description = describesAnything(context) ? 'Conditions on tsvector values.' : null;
  types.define(name, () => new GraphQLInputObjectType({ name, description, fields }));
}

/** The filter input of a column, null where it has that of its scalar. */
export function searchFilterOf(context: SchemaContext, table: Table, { type }: Column): GraphQLInputObjectType | null {
  return isSearchable(type) && context.offers(table.namespace, 'text_search') ? sharedInput(context, name) : null;
}

const languages: readonly SearchLanguage[] = ['websearch', 'plain', 'phrase', 'query'];

function fields() {
  return fieldMap<GraphQLInputFieldConfig>([
    ...languages.map((by) => [by, typed(StringType, { kind: 'search', by })] as const),
    ['config', typed(StringType, { kind: 'search_config' })],
    ['eq', typed(Opaque, { kind: 'operator', operator: 'eq' })],
    ['is', typed(filterIsType, { kind: 'operator', operator: 'is' })],
  ]);
}
