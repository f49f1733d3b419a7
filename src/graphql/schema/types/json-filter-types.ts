/** The filter inputs of JSON columns: the content of `jsonb`, only null or not for `json` (docs/filters.md). */
import { type GraphQLInputFieldConfigMap, GraphQLInputObjectType, GraphQLList, GraphQLNonNull } from 'graphql';
import { hasJsonFilter } from '../../model/extensions/added-types.ts';
import type { SharedType } from '../../model/extensions/shared-types.ts';
import { comparedAs, type Table, type ValueType } from '../../model/model.ts';
import { describesAnything } from '../describe-type.ts';
import { typed } from '../origin.ts';
import { type SchemaContext, sharedInput } from '../schema-context.ts';
import { filterIsType, operatorFields, scalarFilterName } from './operator-filters.ts';
import { scalarTypes } from './scalars.ts';

const { JSON: JSONType, String: StringType } = scalarTypes;
const texts = new GraphQLList(new GraphQLNonNull(StringType));
const [filterName, partName, isName] = [scalarFilterName('JSON'), 'JSONPathFilter', 'JSONIsFilter'] as const;

/** The argument of a JSON field: the path of the part that is answered. */
export const jsonPathArgument = typed(texts, { kind: 'json_at' });

/** Registers the types that the schema has. */
export function defineJsonFilterTypes(context: SchemaContext, tables: readonly Table[]): void {
  const { model, types } = context;
  if (!tables.some(hasJsonFilter)) return;
  const isDescribed = describesAnything(context);
  const define = (name: string, of: string, fields: () => GraphQLInputFieldConfigMap) => {
    const description = isDescribed ? `Conditions on ${of}.` : null;
    types.define(name, () => new GraphQLInputObjectType({ name, description, fields }));
  };
  const isFree = (name: SharedType) => model.addedTypes.includes(name);
  define(filterName, 'jsonb values', () => filterFields(context));
  if (isFree(partName)) define(partName, 'the part of a jsonb value at a path', () => partFields(context));
  if (isFree(isName)) define(isName, 'json values', () => ({ is: isField }));
}

/** The filter input of a JSON type's values, null for none. */
export function jsonFilterOf(context: SchemaContext, { cast }: ValueType): GraphQLInputObjectType | null {
  return comparedAs(cast).name === 'jsonb' ? context.types.input(filterName) : sharedInput(context, isName);
}

const isField = typed(filterIsType, { kind: 'operator', operator: 'is' });

function filterFields(context: SchemaContext): GraphQLInputFieldConfigMap {
  const part = sharedInput(context, partName);
  return {
    ...operatorFields('json', JSONType, JSONType),
    ...(part && { at: typed(new GraphQLList(new GraphQLNonNull(part)), { kind: 'json_parts' }) }),
  };
}

function partFields({ types }: SchemaContext): GraphQLInputFieldConfigMap {
  return {
    path: typed(new GraphQLNonNull(texts), { kind: 'json_path' }),
    text: typed(types.input(scalarFilterName('String'))!, { kind: 'json_part', as: 'text' }),
    number: typed(types.input(scalarFilterName('BigFloat'))!, { kind: 'json_part', as: 'number' }),
    boolean: typed(types.input(scalarFilterName('Boolean'))!, { kind: 'json_part', as: 'boolean' }),
    json: typed(types.input(filterName)!, { kind: 'json_part', as: 'json' }),
    is: isField,
  };
}
