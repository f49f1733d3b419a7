/** Links to rows that are there, in plain SQL. */
import { isDeepStrictEqual } from 'node:util';
import { pathOf, place, query, queryAll, Refusal, type Row, type Run, returning, telling } from './statements.ts';
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
  if (row === undefined) throw await notFound(run, table, key);
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
    if (changed === undefined) throw await notFound(run, table, key);
    // By another of its keys.
    if (connected.some((other) => isDeepStrictEqual(other, changed))) throw new Refusal('BAD_USER_INPUT');
    connected.push(changed);
  }
  return connected;
}

async function notFound(run: Run, table: Table, key: Key): Promise<Refusal> {
  const values: Value[] = [];
  const condition = named(table, key, values);
  const count = async (look: typeof query, path: string) =>
    (await look(run, `select 1 from ${path} as t where ${condition}`, values)).length;
  const isThere = (await count(queryAll, pathOf(table.base ?? table))) > 0;
  if (isThere && (await count(query, pathOf(table))) === 0) {
    run.events.add(telling.hiddenNamed);
    run.hiddenKeys.push(key);
  }
  return new Refusal('BAD_USER_INPUT');
}

function named(table: Table, { columns, values: given }: Key, values: Value[]): string {
  return columns.map((name, index) => `t.${name} = ${place(table, name, given[index] ?? null, values)}`).join(' and ');
}
