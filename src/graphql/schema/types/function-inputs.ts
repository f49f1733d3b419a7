/** Functions of a row in filters and orders: their entries, and the inputs for their arguments (docs/functions.md). */
import {
  type GraphQLInputFieldConfig,
  GraphQLInputObjectType,
  GraphQLNonNull,
  type GraphQLNullableInputType,
} from 'graphql';
import { invariant } from '../../../shared/invariant.ts';
import { isNullTested } from '../../model/extensions/added-types.ts';
import type { SharedType } from '../../model/extensions/shared-types.ts';
import type { FunctionEntry, Routine, Table } from '../../model/model.ts';
import { isJson } from '../../model/tables/columns.ts';
import { describesAnything } from '../describe-type.ts';
import { fieldMap } from '../field-map.ts';
import { typed } from '../origin.ts';
import { type SchemaContext, sharedInput } from '../schema-context.ts';
import { jsonFilterOf } from './json-filter-types.ts';
import { filterIsType } from './operator-filters.ts';
import { orderByDirectionType } from './order-by-direction.ts';
import { routineArguments } from './routine-arguments.ts';
import { searchFilterOf } from './search-types.ts';
import { filterOf } from './value-type.ts';

type NamedInputField = readonly [string, GraphQLInputFieldConfig | null];

/** Registers the filter for values that PostgreSQL cannot compare, if the schema has it. */
export function defineIsFilter(context: SchemaContext, tables: readonly Table[]): void {
  const name: SharedType = 'OpaqueIsFilter';
  if (!context.model.addedTypes.includes(name)) return;
  if (!tables.some(({ sharedTypes }) => sharedTypes.includes(name))) return;
  const description = describesAnything(context) ? 'Conditions on values that cannot be compared.' : null;
  const fields = { is: typed(filterIsType, { kind: 'operator', operator: 'is' }) };
  context.types.define(name, () => new GraphQLInputObjectType({ name, description, fields }));
}

/** Registers the inputs for arguments. */
export function defineFunctionInputs(
  context: SchemaContext,
  { filterFunctions, orderFunctions }: Table,
  define: (name: string, make: () => GraphQLInputObjectType) => void,
): void {
  const defineEach = (entries: readonly FunctionEntry[], more: readonly NamedInputField[]) => {
    for (const { input: name, routine: oid } of entries) {
      if (name === null) continue;
      const own = () => routineArguments(context, routineOf(context, oid));
      if (own() === null) continue;
      const fields = () => fieldMap([...Object.entries(own()!), ...more]);
      define(name, () => new GraphQLInputObjectType({ name, fields }));
    }
  };
  const direction = typed(new GraphQLNonNull(orderByDirectionType), { kind: 'direction' });
  defineEach(filterFunctions, []);
  defineEach(orderFunctions, [['direction', { ...direction, default: { value: 'AscNullsLast' } }]]);
}

function routineOf({ model }: SchemaContext, oid: string): Routine {
  const routine = model.routines.get(oid);
  invariant(routine !== undefined, `routine ${oid} is part of the model`);
  return routine;
}

/** The entries of the filter. */
export function functionFilters(context: SchemaContext, table: Table): readonly NamedInputField[] {
  return entriesOf(context, table.filterFunctions, (type) => {
    if (isJson(type)) return jsonFilterOf(context, type);
    if (isNullTested(type)) return sharedInput(context, 'OpaqueIsFilter');
    return searchFilterOf(context, table, type) ?? filterOf(context, table.namespace, type);
  });
}

/** The entries of the order. */
export function functionOrders(context: SchemaContext, table: Table): readonly NamedInputField[] {
  return entriesOf(context, table.orderFunctions, () => orderByDirectionType);
}

function entriesOf(
  context: SchemaContext,
  entries: readonly FunctionEntry[],
  typeOf: (type: FunctionEntry['type']) => GraphQLNullableInputType | null,
): readonly NamedInputField[] {
  return entries.map(({ name, routine: oid, type, input }) => {
    const inputType = input === null ? typeOf(type) : context.types.input(input);
    return [name, inputType && typed(inputType, { kind: 'function', routine: routineOf(context, oid), type })];
  });
}
