/** The filter inputs of JSON columns: the content of `jsonb`, only null or not for `json` (docs/filters.md). */
import { type GraphQLInputFieldConfigMap, GraphQLInputObjectType, GraphQLList, GraphQLNonNull } from 'graphql';
import type { SharedType } from '../../model/extensions/shared-types.ts';
import { comparedAs, type Table, type ValueType } from '../../model/model.ts';
import { isJsonValue } from '../../model/tables/columns.ts';
import { describesAnything } from '../describe-type.ts';
import { typed } from '../origin.ts';
import { type SchemaContext, sharedInput } from '../schema-context.ts';
import { filterIsType, operatorFields, scalarFilterName } from './operator-filters.ts';
import { scalarTypes } from './scalars.ts';

const { String: StringType } = scalarTypes;
const texts = new GraphQLList(new GraphQLNonNull(StringType));
const [filterName, partName, isName] = [scalarFilterName('JSON'), 'JSONPathFilter', 'JSONIsFilter'] as const;

/** The argument of a JSON field: the path of the part that is answered. */
export const jsonPathArgument = typed(texts, { kind: 'json_at' });

/** Registers the types that the schema has. */
export function defineJsonFilterTypes(context: SchemaContext, tables: readonly Table[]): void {
  const { model, types } = context;
  if (!tables.some(({ sharedTypes }) => sharedTypes.includes(partName))) return;
  const isDescribed = describesAnything(context);
  const define = (name: string, of: string, fields: () => GraphQLInputFieldConfigMap) => {
    const description = isDescribed ? `Conditions on ${of}.` : null;
    types.define(name, () => new GraphQLInputObjectType({ name, description, fields }));
  };
  const isFree = (name: SharedType) => model.addedTypes.includes(name);
  const named = filtersOf(context, namedJson(context));
  define(filterName, 'jsonb values', named.filter);
  if (isFree(partName)) define(partName, 'the part of a jsonb value at a path', named.part);
  if (isFree(isName)) define(isName, 'json values', () => ({ is: isField }));
}

/** The filter input of a JSON type's values, null for none. */
export function jsonFilterOf(context: SchemaContext, type: ValueType): GraphQLInputObjectType | null {
  if (comparedAs(type.cast).name !== 'jsonb') return sharedInput(context, isName);
  const travelling = isJsonValue(type) ? 'JSONValue' : 'JSON';
  return travelling === namedJson(context) ? context.types.input(filterName) : otherFilter(context, travelling);
}

/** How JSON travels. */
type Travelling = 'JSON' | 'JSONValue';

/** The scalar that has the name `JSON` in the schema: values, if any namespace has them. They accept texts, too. */
export function namedJson({ model }: Pick<SchemaContext, 'model'>): Travelling {
  return model.namespaces.some(({ jsonValues }) => jsonValues) ? 'JSONValue' : 'JSON';
}

const otherFilters = new WeakMap<SchemaContext['types'], GraphQLInputObjectType>();

/** The filter where JSON travels otherwise than in the type with the name: the same fields, with other values. */
function otherFilter(context: SchemaContext, travelling: Travelling): GraphQLInputObjectType | null {
  if (!context.types.has(filterName)) return null;
  const known = otherFilters.get(context.types);
  if (known !== undefined) return known;
  const isOffered = context.model.addedTypes.includes(partName);
  const part: GraphQLInputObjectType | null = isOffered
    ? new GraphQLInputObjectType({ name: partName, fields: () => partFields(context, filter) })
    : null;
  const filter: GraphQLInputObjectType = new GraphQLInputObjectType({
    name: filterName,
    fields: () => filterFields(travelling, part),
  });
  otherFilters.set(context.types, filter);
  return filter;
}

/** The fields of the types with the names. */
function filtersOf(context: SchemaContext, travelling: Travelling) {
  return {
    filter: () => filterFields(travelling, sharedInput(context, partName)),
    part: () => partFields(context, context.types.input(filterName)!),
  };
}

const isField = typed(filterIsType, { kind: 'operator', operator: 'is' });

function filterFields(travelling: Travelling, part: GraphQLInputObjectType | null): GraphQLInputFieldConfigMap {
  const scalar = scalarTypes[travelling];
  return {
    ...operatorFields('json', scalar, scalar),
    ...(part && { at: typed(new GraphQLList(new GraphQLNonNull(part)), { kind: 'json_parts' }) }),
  };
}

function partFields({ types }: SchemaContext, filter: GraphQLInputObjectType): GraphQLInputFieldConfigMap {
  return {
    path: typed(new GraphQLNonNull(texts), { kind: 'json_path' }),
    text: typed(types.input(scalarFilterName('String'))!, { kind: 'json_part', as: 'text' }),
    number: typed(types.input(scalarFilterName('BigFloat'))!, { kind: 'json_part', as: 'number' }),
    boolean: typed(types.input(scalarFilterName('Boolean'))!, { kind: 'json_part', as: 'boolean' }),
    json: typed(filter, { kind: 'json_part', as: 'json' }),
    is: isField,
  };
}
