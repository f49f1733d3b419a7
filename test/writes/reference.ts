/**
 * The same writes in plain SQL, one row after the other, by the same role: what the gateway is compared with.
 *
 * Which of several failing rows fails first is PostgreSQL's choice, so rows that follow a failing one are tried, too: the
 * gateway may answer the error of any.
 */
import type { GraphQLSchema } from 'graphql';
import type pg from 'pg';
import { changeTree, deleteRows, type Payload } from './change-rows.ts';
import type { Below } from './document.ts';
import { insertRows } from './insert-rows.ts';
import { isRefused, isTree } from './refused.ts';
import { codeOf, pathOf, place, query, Refusal, type Row, type Run } from './statements.ts';
import { inputFields, type Value } from './values.ts';
import type { Role, Table } from './world.ts';
import type { Key, Write } from './write.ts';

/** What the writes have done. */
export interface Outcome {
  /** Codes of errors that the gateway may answer; empty: there is none. */
  readonly refused: ReadonlySet<string>;
  /** Codes that it may answer or not. */
  readonly allowed: ReadonlySet<string>;
  /** Those of each field. */
  readonly payloads: readonly (readonly Payload[])[];
  /** What happened, for the counts. */
  readonly events: Set<string>;
  /** What links name of rows that the role does not see. */
  readonly hiddenKeys: readonly Key[];
}

/** What is written. */
interface Written {
  readonly role: Role;
  /** What the role is offered. */
  readonly schema: GraphQLSchema;
  readonly writes: readonly Write[];
  readonly below: readonly (Below | null)[];
}

/** Writes in the open transaction of the client, which has the role. */
export async function writeInSql(client: pg.ClientBase, { role, schema, writes, below }: Written): Promise<Outcome> {
  const updatable = ({ name }: Table) => inputFields(schema, `${name}UpdateInput`);
  const run: Run = {
    client,
    refused: new Set(),
    allowed: new Set(),
    events: new Set(),
    isCounted: false,
    shared: new Map(),
    hiddenKeys: [],
    insertable: ({ name }) => inputFields(schema, `${name}InsertInput`),
    updatable,
  };
  const payloads: (readonly Payload[])[] = [];
  try {
    await client.query(`set local role ${role}`);
    for (const [index, write] of writes.entries())
      if (run.refused.size === 0) payloads.push(await writeField(run, write, below[index] ?? null));
    if (run.refused.size === 0) await client.query('set constraints all immediate');
  } catch (error) {
    run.refused.add(codeOf(error));
  }
  if (run.refused.size > 0) {
    // The limit of rows may be looked at before constraints are checked.
    if (writes.some(({ kind }) => kind !== 'insert')) run.allowed.add('BAD_USER_INPUT');
    // The statements of a tree, and the rows of entries that are one statement, have an order that nobody promises.
    if (writes.some((write) => isTree(write) || write.kind === 'updateMany'))
      for (const code of ordinary) run.allowed.add(code);
  }
  return { ...run, payloads };
}

async function writeField(all: Run, write: Write, below: Below | null): Promise<readonly Payload[]> {
  const { table, columns } = write;
  const run = { ...all, isCounted: columns === null, shared: new Map() };
  if (isRefused(write)) throw new Refusal('BAD_USER_INPUT');
  switch (write.kind) {
    case 'update': {
      const nested = isTree(write);
      const payload = await changeTree(run, table, write.change, { columns: nested ? table.key : (columns ?? []) });
      if (!nested || run.refused.size > 0) return [payload];
      return [{ ...payload, records: await readTrees(run, table, columns ?? [], below, payload.records) }];
    }
    case 'updateMany': {
      const payloads: Payload[] = [];
      for (const each of write.changes) payloads.push(await changeTree(run, table, each, { columns: columns ?? [] }));
      return payloads;
    }
    case 'delete': {
      return [await deleteRows(run, table, write, { columns: columns ?? [] })];
    }
    case 'insert': {
      const nested = isTree(write);
      const { trees, conflict } = write;
      const read = nested && columns !== null ? table.key : columns;
      const rows = await insertRows(run, {
        table,
        trees,
        conflict,
        columns: read,
        isNeeded: nested && columns !== null,
        isRoot: true,
      });
      if (run.refused.size > 0) return [];
      const written = rows.filter((row) => row !== null);
      const [first] = written;
      const isShown = nested && first !== undefined && Object.keys(first).length > 0;
      const records = isShown ? await readTrees(run, table, columns ?? [], below, written) : written;
      return [{ affectedCount: written.length, records }];
    }
  }
}

const ordinary = ['CONSTRAINT_VIOLATION', 'PERMISSION_DENIED', 'BAD_USER_INPUT', 'RAISED'];

/** Rows and related rows as they are when all are written. */
async function readTrees(
  run: Run,
  table: Table,
  columns: readonly string[],
  below: Below | null,
  keys: readonly Row[],
) {
  const records: Row[] = [];
  for (const key of keys) {
    const values: Value[] = [];
    const where = table.key
      .map((name) => `t.${name} = ${place(table, name, key[name] as Value, values)}`)
      .join(' and ');
    const related = (below?.down ?? []).map(
      ({ field, table: child, reference, columns: shown }) =>
        `coalesce((select json_agg(row_to_json(r)) from (select ${shown.join(', ')} from ${pathOf(child)} as c where ${reference.columns.map((column, index) => `c.${column} = t.${reference.targetColumns[index]}`).join(' and ')}) as r), '[]') as "${field}"`,
    );
    const above = (below?.up ?? []).map(
      ({ field, reference, columns: shown }) =>
        `(select row_to_json(r) from (select ${shown.join(', ')} from ${pathOf(reference.target)} as p where ${reference.columns.map((column, index) => `p.${reference.targetColumns[index]} = t.${column}`).join(' and ')}) as r) as "${field}"`,
    );
    const list = [...columns.map((name) => `t.${name}`), ...above, ...related];
    const [row] = await query(
      run,
      `select ${list.join(', ') || '1'} from ${pathOf(table)} as t where ${where}`,
      values,
    );
    // Hidden by a policy.
    if (row === undefined) throw new Refusal('PERMISSION_DENIED');
    records.push(row);
  }
  return records;
}
