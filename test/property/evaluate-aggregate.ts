/**
 * Aggregates over raw rows (docs/aggregates.md).
 */
import { Num, type Value } from './canonical.ts';
import type { Document, Field } from './document.ts';
import type { Entity } from './expected-model.ts';
import type { Oracle } from './oracle.ts';
import type { Row } from './reader.ts';

type Name = 'sum' | 'avg' | 'min' | 'max' | 'distinctCount';

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
    else if (field.name === 'count') answer.set(field.key, new Num(String(rows.length)));
    else answer.set(field.key, await evaluateFunction(document, oracle, { entity, rows, field }));
  }
  return answer;
}

async function evaluateFunction(
  document: Document,
  oracle: Oracle,
  { entity, rows, field }: { readonly entity: Entity; readonly rows: readonly Row[]; readonly field: Field },
): Promise<Value> {
  const name = field.name as Name;
  const capitalized = `${entity.base}${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
  const type = name === 'distinctCount' ? capitalized : `${capitalized}AggregateResult`;
  const values = new Map<string, Value>();
  for (const column of document.fields(field.nodes, [type])) {
    if (column.name === '__typename') values.set(column.key, type);
    else values.set(column.key, await aggregateColumn(oracle, { entity, rows, name }, column.name));
  }
  return values;
}

async function aggregateColumn(
  oracle: Oracle,
  { entity, rows, name }: { entity: Entity; rows: readonly Row[]; name: Name },
  field: string,
): Promise<Value> {
  const column = entity.columns.get(field);
  if (!column) throw new Error(`There is no column ${field}.`);
  if (name === 'distinctCount') {
    const cells = rows.flatMap(({ cells }) => cells.get(column.name) ?? []).filter(({ text }) => text !== null);
    return new Num(String(new Set(cells.map(({ rank }) => rank)).size));
  }
  return oracle.aggregate(
    column.type,
    name,
    rows.map((row) => row.cells.get(column.name)?.text ?? null),
  );
}
