/** Aggregates over columns in filters and orders. Refuses columns that a function does not take. */
import type { GraphQLInputField } from 'graphql';
import { type AggregateFunction, aggregateRow } from '../../model/codecs.ts';
import type { Column } from '../../model/model.ts';
import { inputFieldOrigin } from '../../schema/origin.ts';
import { type Input, refuseInput } from '../input/input.ts';

/** The column that an entry below a function names; its type has entries for columns that other functions take, too. */
export function aggregatedColumn(fn: AggregateFunction, field: GraphQLInputField, input: Input): Column {
  const origin = inputFieldOrigin(field);
  const column = origin.kind === 'column' || origin.kind === 'aggregate_column' ? origin.column : null;
  if (column === null) throw refuseInput(`"${fn}" takes columns. "${field.name}" is none.`, input);
  if (column[aggregateRow(fn).results] === null)
    throw refuseInput(`"${field.name}" has no "${fn}": its type has none.`, input);
  return column;
}
