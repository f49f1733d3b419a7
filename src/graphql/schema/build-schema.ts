/** The schemas of a model: for operations, for introspection, and for printing. They differ only in `SchemaOptions`. */
import {
  type GraphQLNamedType,
  type GraphQLSchema,
  introspectionTypes,
  isIntrospectionType,
  isSpecifiedScalarType,
  printSchema,
  printType,
} from 'graphql';
import type { ExtensionName } from '../../config/extensions.ts';
import { inSlices, mapInSlices, type Sliced, sliceIsOver, withoutPauses } from '../../shared/slices.ts';
import { enumFilterName, enumListFilterName, tableTypeNames } from '../model/inflect.ts';
import type { Model, Table } from '../model/model.ts';
import { scalarNames } from '../model/scalars.ts';
import { describeSharedType, describesAnything, describeType } from './describe-type.ts';
import { LazySchema } from './lazy-schema.ts';
import { type DefineType, type SchemaContext, type SchemaOptions, TypeRegistry } from './schema-context.ts';
import { defineAggregateTypes } from './types/aggregate-types.ts';
import { defineColumnType } from './types/column-type.ts';
import { defineCompositeInputs } from './types/composite-inputs.ts';
import { buildConnectionType, buildEdgeType, pageInfoType } from './types/connection-types.ts';
import { buildEnumType, hasNamedValues } from './types/enum-types.ts';
import { buildFilterType } from './types/filter-type.ts';
import { defineFunctionInputs, defineIsFilter } from './types/function-inputs.ts';
import { dateTruncationType, defineGroupTypes } from './types/group-types.ts';
import { defineJsonFilterTypes, namedJson } from './types/json-filter-types.ts';
import { buildObjectType, defineResultType, nodeInterface } from './types/object-type.ts';
import {
  buildEnumFilterType,
  buildEnumListFilterType,
  buildListFilterType,
  filterIsType,
  listFilterTypes,
  scalarFilterName,
  scalarFilterTypes,
} from './types/operator-filters.ts';
import { orderByDirectionType } from './types/order-by-direction.ts';
import { defineOrderByTypes } from './types/order-by-type.ts';
import { buildQueryType, buildSubscriptionType } from './types/query-type.ts';
import { defineRelatedFilterTypes } from './types/related-filter-types.ts';
import { tablesByName } from './types/root-fields.ts';
import { scalarTypes } from './types/scalars.ts';
import { defineSearchTypes } from './types/search-types.ts';
import { defineConflictTypes } from './types/write/conflict-types.ts';
import { defineKeyTypes } from './types/write/key-types.ts';
import { buildMutationType } from './types/write/mutation-type.ts';
import { defineNestedWriteTypes, nestedReplaceType } from './types/write/nested-write-types.ts';
import { defineUpdateInputs } from './types/write/update-types.ts';
import { buildResponseType, buildWriteInputType, hasWriteInput } from './types/write/write-types.ts';

/**
 * The whole GraphQL API of a model. Every field, argument and input field has its origin.
 *
 * Types are made on first use, so the cost depends on the operations, not the tables. It leaves out defaults of
 * function arguments: PostgreSQL applies them if the argument is absent.
 */
export function buildSchema(model: Model): GraphQLSchema {
  return withoutPauses(buildSchemaInSlices(model));
}

/** The same, with pauses. */
export function buildSchemaInSlices(model: Model): Sliced<GraphQLSchema> {
  return assembleSchema(model, { displayDefaults: false, isVisible: () => true, describes: () => false });
}

/** Whether the comment directives of the namespaces or the operator decide about introspection. */
export type IntrospectionPolicy = 'directive' | 'always' | 'never';

/**
 * Makes the part of the API that may be introspected: objects of namespaces that opted in; null if there are none, so
 * introspection is off.
 *
 * It is closed: no field, argument, input field or possible type refers to a missing type. It includes defaults of
 * function arguments for display, so only introspection may be executed against it.
 */
export function buildIntrospectionSchema(
  model: Model,
  policy: IntrospectionPolicy = 'directive',
): Sliced<LazySchema> | null {
  if (policy === 'never') return null;
  const shown = new Set(model.namespaces.filter((namespace) => namespace.introspection).map(({ name }) => name));
  if (policy === 'directive' && shown.size === 0) return null;
  const isVisible = (namespace: string) => policy === 'always' || shown.has(namespace);
  return describedSchema(model, isVisible);
}

/** With all types, because all are about to be described. */
function* describedSchema(model: Model, isVisible: SchemaOptions['isVisible']): Sliced<LazySchema> {
  const schema = yield* assembleSchema(model, { ...forReaders(model), isVisible });
  yield* schema.types.defineAll();
  return schema;
}

/**
 * SDL of everything the role can use, even if introspection is off, with types in order of their names.
 *
 * Uses nothing specific to graphql 17, so that tools with graphql 16 can read it.
 */
export function printRoleSchema(model: Model): string {
  return `${printSchema(buildRoleSchema(model))}\n`;
}

/** Everything the role can use, as it is printed. Nothing is executed against it. */
export function buildRoleSchema(model: Model): GraphQLSchema {
  return withoutPauses(assembleSchema(model, { ...forReaders(model), isVisible: () => true }));
}

/** The same in slices, between which the process answers others. */
export async function printRoleSchemaInSlices(model: Model): Promise<string> {
  const schema = await inSlices(assembleSchema(model, { ...forReaders(model), isVisible: () => true }));
  const types = Object.values(schema.getTypeMap()).filter(
    (type) => !isSpecifiedScalarType(type) && !isIntrospectionType(type),
  );
  const texts = await inSlices(mapInSlices(types, printType));
  return `${texts.join('\n\n')}\n`;
}

function forReaders({ namespaces }: Model): Omit<SchemaOptions, 'isVisible'> {
  return { displayDefaults: true, describes: having(namespaces, 'reads') };
}

function having(namespaces: Model['namespaces'], extension: ExtensionName): SchemaContext['hasReads'] {
  const names = new Set(namespaces.filter(({ extensions }) => extensions.includes(extension)).map(({ name }) => name));
  return (namespace) => names.has(namespace);
}

function* assembleSchema(model: Model, options: SchemaOptions): Sliced<LazySchema> {
  const [hasReads, hasWrites] = [having(model.namespaces, 'reads'), having(model.namespaces, 'writes')];
  const types = new TypeRegistry();
  const context: SchemaContext = { model, types, hasReads, hasWrites, ...options };
  const defineShared: DefineType = (name, make) => types.define(name, make);
  defineBuiltInTypes(context);
  const tables = [...model.tables.values()].filter((table) => options.isVisible(table.namespace));
  defineEnumTypes(context);
  defineCompositeInputs(context);
  defineJsonFilterTypes(context, tables);
  defineIsFilter(context, tables);
  defineSearchTypes(context, tables);
  for (const table of tables) {
    if (sliceIsOver()) yield;
    types.defineTable(table, (define) => defineTableTypes(context, table, describing(context, table, define)));
  }
  for (const table of model.writeOnly) {
    if (options.isVisible(table.namespace))
      defineWriteTypes(context, table, 'insert', describing(context, table, defineShared));
  }
  for (const routine of model.routines.values()) {
    if (sliceIsOver()) yield;
    if (options.isVisible(routine.namespace))
      defineResultType(context, routine, describing(context, routine, defineShared));
  }
  if (model.addedTypes.includes('NestedReplace')) {
    context.types.define(nestedReplaceType.name, () => nestedReplaceType);
  }
  if (model.addedTypes.includes('DateTruncation') && tables.some(({ addedTypes }) => addedTypes.includes('groupBy'))) {
    types.define(dateTruncationType.name, () => dateTruncationType);
  }
  const byName = yield* tablesByName(model);
  const roots = [
    buildQueryType(context, byName),
    yield* buildMutationType(context, byName),
    buildSubscriptionType(context, byName),
  ];
  for (const root of roots) {
    if (root === null) continue;
    types.define(root.name, () => root);
    // All are about to be described.
    if (options.displayDefaults) yield* root.sortNames();
  }
  return new LazySchema(types, () => tables.map((table) => table.baseName));
}

/** The types of every schema, used or not. */
function defineBuiltInTypes(context: SchemaContext): void {
  const { types } = context;
  const described = [...scalarFilterTypes, orderByDirectionType];
  const builtIn = [
    ...scalarNames.map((name) => scalarTypes[name === 'JSON' ? namedJson(context) : name]),
    ...(describesAnything(context) ? described.map(describeSharedType) : described),
    ...[filterIsType, nodeInterface, pageInfoType],
    ...introspectionTypes,
  ];
  for (const type of builtIn) types.define(type.name, () => type);
  defineListFilterTypes(context);
}

function defineListFilterTypes(context: SchemaContext): void {
  const { model, types } = context;
  const filtersElements = model.namespaces.some(({ name }) => context.isVisible(name) && context.hasReads(name));
  const describe = describesAnything(context) ? describeSharedType : (type: GraphQLNamedType) => type;
  for (const [scalar, plain] of listFilterTypes) {
    const ofElement = () => types.input(scalarFilterName(scalar))!;
    types.define(plain.name, () => describe(filtersElements ? buildListFilterType(scalar, ofElement) : plain));
  }
}

function defineEnumTypes(context: SchemaContext): void {
  const { model, types } = context;
  const describe = describesAnything(context) ? describeSharedType : (type: GraphQLNamedType) => type;
  for (const enumType of model.enums.values()) {
    if (!context.isVisible(enumType.namespace) || !hasNamedValues(enumType)) continue;
    const type = buildEnumType(enumType);
    types.define(type.name, () => type);
    const filter = enumFilterName(type.name);
    types.define(filter, () => describe(buildEnumFilterType(type)));
    if (!enumType.hasListFilter) continue;
    const ofElement = () => types.input(filter)!;
    types.define(enumListFilterName(type.name), () => describe(buildEnumListFilterType(type, ofElement)));
  }
}

/** Registers types of an object, with descriptions if its namespace has them. */
function describing(
  context: SchemaContext,
  { namespace }: { readonly namespace: string },
  define: DefineType,
): DefineType {
  return context.describes(namespace) ? (name, make) => define(name, () => describeType(make())) : define;
}

function defineTableTypes(context: SchemaContext, table: Table, define: DefineType): void {
  const names = tableTypeNames(table.baseName);
  define(table.baseName, () => buildObjectType(context, table));
  define(names.connection, () => buildConnectionType(context, table));
  define(names.edge, () => buildEdgeType(context, table));
  define(names.filter, () => buildFilterType(context, table));
  defineOrderByTypes(context, table, define);
  defineFunctionInputs(context, table, define);
  if (table.aggregate) defineAggregateTypes(context, table, define);
  defineRelatedFilterTypes(context, table, define);
  defineColumnType(context, table, define);
  defineGroupTypes(context, table, define);
  if (hasWriteInput(context, table, 'insert')) defineConflictTypes(context, table, define);
  defineWriteTypes(context, table, 'insert', define);
  defineWriteTypes(context, table, 'update', define);
  defineUpdateInputs(context, table, define);
  defineKeyTypes(context, table, define);
  defineNestedWriteTypes(context, table, define);
  if (table.delete) define(names.deleteResponse, () => buildResponseType(context, table, 'delete'));
}

function defineWriteTypes(
  context: SchemaContext,
  table: Table,
  command: 'insert' | 'update',
  define: DefineType,
): void {
  if (!hasWriteInput(context, table, command)) return;
  const names = tableTypeNames(table.baseName);
  define(names[`${command}Input`], () => buildWriteInputType(context, table, command));
  define(names[`${command}Response`], () => buildResponseType(context, table, command));
}
