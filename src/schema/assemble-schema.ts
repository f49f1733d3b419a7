/**
 * Announces every type of a model's schema and puts the schema on top (graphql.md 1.6, 1.7, 2.3, 13.4).
 *
 * One assembly makes all three schemas of a model: the one operations run against, the one introspection shows, and the
 * one printed for code generators. They differ only in `SchemaOptions`.
 */
import { introspectionTypes } from 'graphql';
import {
  connectionName,
  deleteResponseName,
  edgeName,
  enumFilterName,
  filterName,
  insertInputName,
  insertResponseName,
  orderByName,
  updateInputName,
  updateResponseName,
} from '../model/inflect.ts';
import type { Model, Table } from '../model/model.ts';
import { LazySchema } from './lazy-schema.ts';
import type { SchemaContext, SchemaOptions } from './schema-context.ts';
import { TypeRegistry } from './type-registry.ts';
import { defineAggregateTypes } from './types/aggregate-types.ts';
import { buildConnectionType, buildEdgeType, pageInfoType } from './types/connection-types.ts';
import { buildEnumType, hasNamedValues } from './types/enum-types.ts';
import { buildFilterType } from './types/filter-type.ts';
import { buildMutationType } from './types/mutation-type.ts';
import { nodeInterface } from './types/node-interface.ts';
import { buildObjectType } from './types/object-type.ts';
import { buildEnumFilterType, filterIsType, operatorFilterTypes } from './types/operator-filters.ts';
import { buildOrderByType, isOrderable, orderByDirectionType } from './types/order-by-type.ts';
import { buildQueryType } from './types/query-type.ts';
import { scalarTypes } from './types/scalars.ts';
import { buildInsertInputType, buildUpdateInputType, hasWriteInput } from './types/write-input-types.ts';
import { buildWritePayloadType } from './types/write-payload-types.ts';

/** One schema of the model. Cheap: types and fields are made when an operation first names them. */
export function assembleSchema(model: Model, options: SchemaOptions): LazySchema {
  const context: SchemaContext = {
    model,
    types: new TypeRegistry(),
    displayDefaults: options.displayDefaults,
    isVisible: (namespace) => options.isVisible(namespace),
  };
  defineBuiltInTypes(context);
  const tables = [...model.tables.values()].filter((table) => options.isVisible(table.namespace));
  defineEnumTypes(context);
  for (const table of tables) defineTableTypes(context, table);
  context.types.define('Query', () => buildQueryType(context));
  const mutation = buildMutationType(context);
  if (mutation !== null) context.types.define('Mutation', () => mutation);
  return new LazySchema(context.types, () => tables.map((table) => table.baseName));
}

/** The types that every schema holds, used or not. */
function defineBuiltInTypes({ types }: SchemaContext): void {
  const builtIn = [
    ...Object.values(scalarTypes),
    ...operatorFilterTypes,
    filterIsType,
    orderByDirectionType,
    nodeInterface,
    pageInfoType,
    ...introspectionTypes,
  ];
  for (const type of builtIn) types.define(type.name, () => type);
}

function defineEnumTypes(context: SchemaContext): void {
  const { model, types } = context;
  for (const enumType of model.enums.values()) {
    if (!context.isVisible(enumType.namespace) || !hasNamedValues(enumType)) continue;
    const type = buildEnumType(enumType);
    types.define(type.name, () => type);
    types.define(enumFilterName(type.name), () => buildEnumFilterType(enumType, type));
  }
}

function defineTableTypes(context: SchemaContext, table: Table): void {
  const { types } = context;
  const { baseName } = table;
  const payload = (name: string) => types.define(name, () => buildWritePayloadType(context, table, name));
  types.define(baseName, () => buildObjectType(context, table));
  types.define(connectionName(baseName), () => buildConnectionType(context, table));
  types.define(edgeName(baseName), () => buildEdgeType(context, table));
  types.define(filterName(baseName), () => buildFilterType(context, table));
  if (isOrderable(table)) types.define(orderByName(baseName), () => buildOrderByType(table));
  if (table.aggregate) defineAggregateTypes(context, table);
  if (hasWriteInput(context, table, 'insert')) {
    types.define(insertInputName(baseName), () => buildInsertInputType(context, table));
    payload(insertResponseName(baseName));
  }
  if (hasWriteInput(context, table, 'update')) {
    types.define(updateInputName(baseName), () => buildUpdateInputType(context, table));
    payload(updateResponseName(baseName));
  }
  if (table.delete) payload(deleteResponseName(baseName));
}
