/**
 * The inputs of an update's operators (docs/mutations.md): an entry for each column that the operator can change.
 */
import { GraphQLInputObjectType, GraphQLList, type GraphQLNamedType, GraphQLNonNull } from 'graphql';
import {
  fitsOperator,
  operatorForm,
  type UpdateOperator,
  updateOperators,
} from '../../model/added/update-operators.ts';
import { tableTypeNames } from '../../model/inflect.ts';
import type { Table } from '../../model/model.ts';
import { fieldMap } from '../field-map.ts';
import { typed } from '../origin.ts';
import { addedInput, type SchemaContext } from '../schema-context.ts';
import { scalarTypes } from './scalars.ts';
import { valueType } from './value-type.ts';

/** Registers the inputs that have an entry in this schema. */
export function defineOperatorInputs(
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
}

/** The inputs of a table's operators, by operator. */
export function operatorInputs(
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
