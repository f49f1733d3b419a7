/**
 * Aggregates over raw rows (docs/aggregates.md).
 */
import type { FieldNode } from 'graphql';
import { Num, type Value } from './canonical.ts';
import type { Document } from './document.ts';
import type { Entity } from './expected-model.ts';
import type { Oracle } from './oracle.ts';
import type { Row } from './reader.ts';

/** Answers an `aggregate` selection for all rows that match. */
export async function evaluateAggregate(
  { document, oracle }: { readonly document: Document; readonly oracle: Oracle },
  entity: Entity,
  nodes: readonly FieldNode[],
  rows: readonly Row[],
): Promise<Value> {
  const answer = new Map<string, Value>();
  for (const field of document.fields(nodes, [`${entity.base}Aggregate`])) {
    if (field.name === '__typename') answer.set(field.key, `${entity.base}Aggregate`);
    else if (field.name === 'count') answer.set(field.key, new Num(String(rows.length)));
    else {
      const name = field.name as 'sum' | 'avg' | 'min' | 'max';
      const type = `${entity.base}${name.slice(0, 1).toUpperCase()}${name.slice(1)}AggregateResult`;
      const values = new Map<string, Value>();
      for (const column of document.fields(field.nodes, [type])) {
        if (column.name === '__typename') values.set(column.key, type);
        else values.set(column.key, await aggregateColumn(oracle, { entity, rows, name }, column.name));
      }
      answer.set(field.key, values);
    }
  }
  return answer;
}

function aggregateColumn(
  oracle: Oracle,
  { entity, rows, name }: { entity: Entity; rows: readonly Row[]; name: 'sum' | 'avg' | 'min' | 'max' },
  field: string,
): Promise<Value> {
  const column = entity.columns.get(field);
  if (!column) throw new Error(`There is no column ${field}.`);
  return oracle.aggregate(
    column.type,
    name,
    rows.map((row) => row.cells.get(column.name)?.text ?? null),
  );
}
