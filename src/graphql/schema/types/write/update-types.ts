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
import type { Column, Table } from '../../../model/model.ts';
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
  const names = tableTypeNames(table.baseName);
  const add = (name: string, fields: () => GraphQLInputFieldConfigMap) =>
    define(name, () => new GraphQLInputObjectType({ name, fields }));
  if (table.addedTypes.includes('removeInput') && hasOperator(context, table, 'remove')) {
    add(names.removeInput, () => fieldMap(removeFields(context, table)));
  }
  const isNested = table.addedTypes.includes('nestedUpdate') && (table.update || table.delete);
  if (table.addedTypes.includes('updateEntry') && (isNested || hasWriteInput(context, table, 'update'))) {
    add(names.updateEntry, () => entryFields(context, table));
  }
}

function entryFields(context: SchemaContext, table: Table): GraphQLInputFieldConfigMap {
  const { updateInput, filter } = tableTypeNames(table.baseName);
  const set = context.types.input(updateInput);
  return {
    ...(set && { set: typed(set, { kind: 'set' }) }),
    ...Object.fromEntries(operatorInputs(context, table).map(([kind, input]) => [kind, typed(input, { kind })])),
    filter: typed(context.types.input(filter)!, { kind: 'filter' }),
    atMost: { ...typed(new GraphQLNonNull(scalarTypes.Int), { kind: 'at_most' }), default: { value: 1 } },
  };
}

function hasBatch(context: SchemaContext, table: Table): boolean {
  return table.updateMany && hasWriteInput(context, table, 'update');
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
  return { set: typed(set, { kind: 'set' }), operators: Object.fromEntries(operators) };
}

/** The inputs of a table's operators, by operator: what is added to a column has the type of its new value. */
function operatorInputs(
  context: SchemaContext,
  table: Table,
): readonly (readonly [operator: UpdateOperator, input: GraphQLInputObjectType])[] {
  const set = context.types.input(tableTypeNames(table.baseName).updateInput);
  return updateOperators.flatMap((operator) => {
    const input = operator === 'remove' ? addedInput(context, table, 'removeInput') : set;
    return input !== null && hasOperator(context, table, operator) ? [[operator, input] as const] : [];
  });
}

function hasOperator(context: SchemaContext, { namespace, columns }: Table, operator: UpdateOperator): boolean {
  const isOffered = (column: Column) => fitsOperator(column, operator) && valueType(context, column.type!) !== null;
  return context.hasWrites(namespace) && columns.some(isOffered);
}

const keys = new GraphQLList(new GraphQLNonNull(scalarTypes.String));

function removeFields(context: SchemaContext, { columns }: Table) {
  return columns
    .filter((column) => fitsOperator(column, 'remove'))
    .map((column) => {
      const type = column.type!;
      const input = operatorForm(type, 'remove') === 'json' ? keys : valueType(context, type);
      return [column.fieldName!, input && typed(input, { kind: 'column', column })] as const;
    });
}
