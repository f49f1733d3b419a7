/** Links to rows that are there, in plain SQL. */
import { isDeepStrictEqual } from 'node:util';
import { pathOf, place, query, Refusal, type Row, type Run, returning } from './statements.ts';
import type { Value } from './values.ts';
import type { Reference, Table } from './world.ts';
import type { Key } from './write.ts';

export function giveKey(
  values: Map<string, Value>,
  { columns, targetColumns }: { columns: readonly string[]; targetColumns: readonly string[] },
  row: Row | null,
): void {
  for (const [index, column] of columns.entries()) {
    const value = row?.[targetColumns[index] ?? ''] ?? null;
    if (value === null) throw new Refusal('suppressed');
    values.set(column, value as Value);
  }
}

/** The row of this key, with what refers to it. */
export async function findRow(run: Run, table: Table, key: Key, { targetColumns }: Reference): Promise<Row> {
  const values: Value[] = [];
  const list = targetColumns.map((name) => `t.${name}`).join(', ');
  const [row] = await query(
    run,
    `select ${list} from ${pathOf(table)} as t where ${named(table, key, values)}`,
    values,
  );
  run.events.add(row === undefined ? 'row to connect not found' : 'row found');
  if (row === undefined) throw new Refusal('BAD_USER_INPUT');
  return row;
}

/** Makes the rows of these keys refer to others. @returns Their primary keys. */
export async function connectRows(
  run: Run,
  table: Table,
  reference: Reference,
  links: readonly { readonly key: Key; readonly row: Row | null }[],
): Promise<readonly Row[]> {
  const connected: Row[] = [];
  const texts = links.map(({ key }) => JSON.stringify([key.name, key.values]));
  if (new Set(texts).size < texts.length) throw new Refusal('BAD_USER_INPUT');
  for (const { key, row } of links) {
    const given = new Map<string, Value>();
    giveKey(given, reference, row);
    const values: Value[] = [];
    const set = [...given].map(([name, value]) => `${name} = ${place(table, name, value, values)}`).join(', ');
    const where = named(table, key, values);
    const text = `update ${pathOf(table)} as t set ${set} where ${where} ${returning(table.key)}`;
    const [changed] = await query(run, text, values);
    run.events.add(changed === undefined ? 'row to connect not found' : 'row connected');
    if (changed === undefined) throw new Refusal('BAD_USER_INPUT');
    // By another of its keys.
    if (connected.some((other) => isDeepStrictEqual(other, changed))) throw new Refusal('BAD_USER_INPUT');
    connected.push(changed);
  }
  return connected;
}

function named(table: Table, { columns, values: given }: Key, values: Value[]): string {
  return columns.map((name, index) => `t.${name} = ${place(table, name, given[index] ?? null, values)}`).join(' and ');
}
