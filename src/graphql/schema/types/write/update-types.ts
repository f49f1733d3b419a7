/**
 * What extensions add to updates (docs/counters-and-lists.md): the inputs of operators, with an entry for each column
 * that the operator can change, and lists of updates.
 */
import {
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
} from 'graphql';
import {
  fitsOperator,
  operatorForm,
  type UpdateOperator,
  updateOperators,
} from '../../../model/extensions/update-operators.ts';
import { tableTypeNames } from '../../../model/inflect.ts';
import type { Table } from '../../../model/model.ts';
import { fieldMap } from '../../field-map.ts';
import { typed, withOrigin } from '../../origin.ts';
import { addedInput, type SchemaContext } from '../../schema-context.ts';
import type { FieldMaker } from '../root-type.ts';
import { scalarTypes } from '../scalars.ts';
import { valueType } from '../value-type.ts';
import { hasWriteInput } from './write-types.ts';

/** Registers the inputs that have an entry in this schema. */
export function defineUpdateInputs(
  context: SchemaContext,
  table: Table,
  define: (name: string, make: () => GraphQLNamedType) => void,
): void {
  for (const operator of updateOperators) {
    const name = tableTypeNames(table.baseName)[`${operator}Input`];
    const hasEntry = () => operatorFields(context, table, operator).some(([, field]) => field !== null);
    if (!table.addedTypes.includes(`${operator}Input`) || !hasEntry()) continue;
    const fields = () => fieldMap(operatorFields(context, table, operator));
    define(name, () => new GraphQLInputObjectType({ name, fields }));
  }
  const name = tableTypeNames(table.baseName).updateEntry;
  if (!hasBatch(context, table)) return;
  define(name, () => new GraphQLInputObjectType({ name, fields: () => entryFields(context, table) }));
}

function entryFields(context: SchemaContext, table: Table): GraphQLInputFieldConfigMap {
  const { updateInput, filter } = tableTypeNames(table.baseName);
  return {
    set: typed(context.types.input(updateInput)!, { kind: 'set' }),
    ...Object.fromEntries(operatorInputs(context, table).map(([kind, input]) => [kind, typed(input, { kind })])),
    filter: typed(context.types.input(filter)!, { kind: 'filter' }),
    atMost: { ...typed(new GraphQLNonNull(scalarTypes.Int), { kind: 'at_most' }), default: { value: 1 } },
  };
}

function hasBatch(context: SchemaContext, table: Table): boolean {
  return table.addedTypes.includes('updateEntry') && hasWriteInput(context, table, 'update');
}

/** Makes `updateMany…`; null for none. */
export function batchField(context: SchemaContext, table: Table): FieldMaker | null {
  if (!context.isVisible(table.namespace) || !hasBatch(context, table)) return null;
  const names = tableTypeNames(table.baseName);
  return () => {
    const response = new GraphQLNonNull(context.types.object(names.updateResponse)!);
    const entry = new GraphQLNonNull(addedInput(context, table, 'updateEntry')!);
    return {
      type: new GraphQLNonNull(new GraphQLList(response)),
      args: { updates: typed(new GraphQLNonNull(new GraphQLList(entry)), { kind: 'updates' }) },
      extensions: withOrigin({ kind: 'update_many', table }),
    };
  };
}

/** The arguments of an update for its changes. */
export function changeArguments(context: SchemaContext, table: Table) {
  const set = context.types.input(tableTypeNames(table.baseName).updateInput)!;
  const operators = operatorInputs(context, table).map(([kind, input]) => [kind, typed(input, { kind })] as const);
  return { set: typed(new GraphQLNonNull(set), { kind: 'set' }), operators: Object.fromEntries(operators) };
}

/** The inputs of a table's operators, by operator. */
function operatorInputs(
  context: SchemaContext,
  table: Table,
): readonly (readonly [operator: UpdateOperator, input: GraphQLInputObjectType])[] {
  return updateOperators.flatMap((operator) => {
    const input = addedInput(context, table, `${operator}Input`);
    return input === null ? [] : [[operator, input] as const];
  });
}

const keys = new GraphQLList(new GraphQLNonNull(scalarTypes.String));

function operatorFields(context: SchemaContext, { columns }: Table, operator: UpdateOperator) {
  return columns
    .filter((column) => fitsOperator(column, operator))
    .map((column) => {
      const type = column.type!;
      const removesKeys = operator === 'remove' && operatorForm(type, operator) === 'json';
      const input = removesKeys ? keys : valueType(context, type);
      return [column.fieldName!, input && typed(input, { kind: 'column', column })] as const;
    });
}
