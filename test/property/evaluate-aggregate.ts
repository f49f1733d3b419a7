/**
 * Aggregates over raw rows (docs/aggregates.md).
 */
import { Num, NumText, type Value } from './canonical.ts';
import type { Document, Field } from './document.ts';
import type { Computation, Entity } from './expected-model.ts';
import type { Oracle } from './oracle.ts';
import type { Row } from './reader.ts';
import { resultsOf } from './types.ts';

/** Answers a selection of aggregates for some rows. */
export async function evaluateAggregate(
  { document, oracle }: { readonly document: Document; readonly oracle: Oracle },
  entity: Entity,
  fields: readonly Field[],
  { rows, type }: { readonly rows: readonly Row[]; readonly type: string },
): Promise<Map<string, Value>> {
  const answer = new Map<string, Value>();
  for (const field of fields) {
    if (field.name === '__typename') answer.set(field.key, type);
    else if (field.name === 'count') {
      const column = document.argument(field, 'column');
      const counted = typeof column === 'string' ? entity.columns.get(column)! : null;
      const isCounted = ({ cells }: Row) => counted === null || cells.get(counted.name)?.text !== null;
      answer.set(field.key, new Num(String(rows.filter(isCounted).length)));
    } else answer.set(field.key, await evaluateFunction(document, oracle, { entity, rows, field }));
  }
  return answer;
}

async function evaluateFunction(
  document: Document,
  oracle: Oracle,
  { entity, rows, field }: { readonly entity: Entity; readonly rows: readonly Row[]; readonly field: Field },
): Promise<Value> {
  const name = field.name as Computation;
  const type = `${entity.base}${name === 'distinctCount' ? 'DistinctCount' : `${resultsOf(name)}AggregateResult`}`;
  const values = new Map<string, Value>();
  for (const column of document.fields(field.nodes, [type])) {
    if (column.name === '__typename') values.set(column.key, type);
    else values.set(column.key, await aggregateColumn(oracle, { entity, rows, name }, column.name));
  }
  return values;
}

async function aggregateColumn(
  oracle: Oracle,
  { entity, rows, name }: { entity: Entity; rows: readonly Row[]; name: Computation },
  field: string,
): Promise<Value> {
  const column = entity.columns.get(field);
  if (!column) throw new Error(`There is no column ${field}.`);
  if (name === 'distinctCount') {
    const cells = rows.flatMap(({ cells }) => cells.get(column.name) ?? []).filter(({ text }) => text !== null);
    return new Num(String(new Set(cells.map(({ rank }) => rank)).size));
  }
  const value = await oracle.aggregate(
    column.type,
    name,
    rows.map((row) => row.cells.get(column.name)?.text ?? null),
  );
  // The smallest and the largest of small numbers are small.
  const isBig = column.type.graphql !== 'Int' || ['Sum', 'Avg'].includes(resultsOf(name));
  return entity.relation.schema.exactNumbers && isBig && value instanceof Num ? new NumText(value) : value;
}
