/** The filter input of a table: columns, global id, boolean operators, relationships, functions (docs/filters.md). */
import { type GraphQLInputFieldConfig, GraphQLInputObjectType, GraphQLList, GraphQLNonNull } from 'graphql';
import { tableTypeNames } from '../../model/inflect.ts';
import type { Table } from '../../model/model.ts';
import { isFilteredByExtension, isJson } from '../../model/tables/columns.ts';
import { fieldMap } from '../field-map.ts';
import { typed } from '../origin.ts';
import { addedInput, type SchemaContext } from '../schema-context.ts';
import { functionFilters } from './function-inputs.ts';
import { jsonFilterOf } from './json-filter-types.ts';
import { nodeIdName } from './object-type.ts';
import { searchFilterOf } from './search-types.ts';
import { filterOf } from './value-type.ts';

type NamedInputField = readonly [string, GraphQLInputFieldConfig | null];

/** *B*`Filter`. A column named `and`, `or` or `not` replaces that operator. */
export function buildFilterType(context: SchemaContext, table: Table): GraphQLInputObjectType {
  const type: GraphQLInputObjectType = new GraphQLInputObjectType({
    name: tableTypeNames(table.baseName).filter,
    fields: () => {
      const columns = columnEntries(context, table);
      const taken = new Set(columns.map(([name]) => name));
      const operators = operatorEntries(context, type).filter(([name]) => !taken.has(name));
      return fieldMap([
        ...columns,
        ...operators,
        ...relationshipEntries(context, table),
        ...functionFilters(context, table),
        ...addedEntries(context, table),
      ]);
    },
  });
  return type;
}

function columnEntries(context: SchemaContext, table: Table): NamedInputField[] {
  return table.columns.flatMap((column): NamedInputField[] => {
    const name = column.fieldName;
    if (!column.filterable || name === null || column.type === null || name === nodeIdName) return [];
    if (isFilteredByExtension(column.type)) return [];
    const searched = searchFilterOf(context, table, column.type);
    const type = searched ?? filterOf(context, table.namespace, column.type);
    return [[name, type && typed(type, { kind: 'column', column })]];
  });
}

/** For columns that only an extension filters. */
function addedEntries(context: SchemaContext, table: Table): NamedInputField[] {
  return table.columns.flatMap((column): NamedInputField[] => {
    const { filterable, fieldName, type: of } = column;
    if (!filterable || fieldName === null || of === null || !isFilteredByExtension(of)) return [];
    const type = isJson(of) ? jsonFilterOf(context, of) : filterOf(context, table.namespace, of);
    return type === null ? [] : [[fieldName, typed(type, { kind: 'column', column })]];
  });
}

function relationshipEntries(context: SchemaContext, table: Table): NamedInputField[] {
  return table.relationships.flatMap((relationship): NamedInputField[] => {
    const target = context.model.tables.get(relationship.target);
    if (!relationship.filterable || target === undefined) return [];
    const type =
      relationship.cardinality === 'many'
        ? addedInput(context, target, 'collectionFilter')
        : context.types.input(tableTypeNames(target.baseName).filter);
    return [[relationship.fieldName, type && typed(type, { kind: 'relationship', relationship, target })]];
  });
}

function operatorEntries({ types }: SchemaContext, self: GraphQLInputObjectType): NamedInputField[] {
  const list = new GraphQLList(new GraphQLNonNull(self));
  return [
    [nodeIdName, typed(types.input('IDFilter')!, { kind: 'node_id' })],
    ['and', typed(list, { kind: 'and' })],
    ['or', typed(list, { kind: 'or' })],
    ['not', typed(self, { kind: 'not' })],
  ];
}
