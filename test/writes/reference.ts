/**
 * The same writes in plain SQL, one row after the other, by the same role: what the gateway is compared with.
 *
 * Which of several failing rows fails first is PostgreSQL's choice, so rows that follow a failing one are tried, too: the
 * gateway may answer the error of any.
 */
import type pg from 'pg';
import { type Below, textOf } from './document.ts';
import { keyOf, lookUp, type Met, versions } from './met-rows.ts';
import { isRefused, isTree, mayKeep } from './refused.ts';
import { codeOf, conditionOf, pathOf, place, query, Refusal, type Row, type Run, returning } from './statements.ts';
import type { Value, Values } from './values.ts';
import type { Reference, Role, Table } from './world.ts';
import type { Change, Conflict, Deletion, Tree, Write } from './write.ts';

/** The answer of one field, or of one entry. */
export interface Payload {
  readonly affectedCount: number;
  readonly records: readonly Row[];
}

/** What the writes have done. */
export interface Outcome {
  /** Codes of errors that the gateway may answer; empty: there is none. */
  readonly refused: ReadonlySet<string>;
  /** Codes that it may answer or not. */
  readonly allowed: ReadonlySet<string>;
  /** Those of each field. */
  readonly payloads: readonly (readonly Payload[])[];
  /** What happened, for the counts. */
  readonly events: ReadonlySet<string>;
}

/** Writes in the open transaction of the client, which has the role. */
export async function writeInSql(
  client: pg.ClientBase,
  role: Role,
  writes: readonly Write[],
  below: readonly (Below | null)[],
): Promise<Outcome> {
  const run: Run = { client, refused: new Set(), allowed: new Set(), events: new Set() };
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

async function writeField(run: Run, write: Write, below: Below | null): Promise<readonly Payload[]> {
  const { table, columns } = write;
  if (isRefused(write)) throw new Refusal('BAD_USER_INPUT');
  switch (write.kind) {
    case 'update': {
      const nested = isTree(write);
      const payload = await changeTree(run, table, write.change, { columns: nested ? table.key : columns });
      if (!nested || run.refused.size > 0) return [payload];
      return [{ ...payload, records: await readTrees(run, table, columns, below, payload.records) }];
    }
    case 'updateMany': {
      const payloads: Payload[] = [];
      for (const each of write.changes) payloads.push(await changeTree(run, table, each, { columns }));
      return payloads;
    }
    case 'delete': {
      return [await deleteRows(run, table, write, { columns })];
    }
    case 'insert': {
      const nested = isTree(write);
      const { trees, conflict } = write;
      const read = nested ? [...table.key] : columns;
      const rows = await insertRows(run, {
        table,
        trees,
        conflict,
        columns: read,
        isNeeded: nested,
      });
      if (run.refused.size > 0) return [];
      const written = rows.filter((row) => row !== null);
      const records = nested ? await readTrees(run, table, columns, below, written) : written;
      return [{ affectedCount: written.length, records }];
    }
  }
}

const ordinary = ['CONSTRAINT_VIOLATION', 'PERMISSION_DENIED', 'BAD_USER_INPUT', 'RAISED'];

function placeOf({ down }: Tree['down'][number]['reference']): string {
  return `${down.endsWith('_v') ? 1 : 0} ${down}`;
}

interface Level {
  readonly table: Table;
  readonly trees: readonly Tree[];
  readonly conflict: Conflict | null;
  /** What is read of each row. */
  readonly columns: readonly string[];
  /** Other rows are made with these: none may be missing. */
  readonly isNeeded: boolean;
}

/** Rows of a level after those that they refer to, and before those that refer to them. Null: suppressed or kept as it was. */
async function insertRows(run: Run, { table, trees, conflict, columns, isNeeded }: Level): Promise<(Row | null)[]> {
  const values = trees.map((tree) => new Map(tree.values));
  for (const reference of table.references) {
    const above = trees.flatMap(({ up }, index) =>
      up.filter((each) => each.reference === reference).map((each) => ({ ...each, index })),
    );
    if (above.length === 0) continue;
    // Equal objects are one row.
    const different = new Map(above.map(({ tree }) => [textOf(tree), tree]));
    if (different.size < above.length) run.events.add('row shared');
    const places = new Map([...different.keys()].map((text, index) => [text, index]));
    const level = {
      table: reference.target,
      trees: [...different.values()],
      conflict: above[0]?.conflict ?? null,
    };
    const rows = await insertRows(run, { ...level, columns: reference.targetColumns, isNeeded: true });
    if (run.refused.size > 0) return [];
    for (const { tree, index } of above) {
      const at = places.get(textOf(tree)) as number;
      giveKey(values[index] as Map<string, Value>, reference, rows[at] ?? null);
    }
  }
  const children = trees.flatMap(({ down }, index) => down.map((each) => ({ ...each, index })));
  const handedOn = children.flatMap(({ reference }) => reference.targetColumns);
  const read = [...new Set([...columns, ...handedOn])];
  const rows = await insertLevel(run, table, values, { conflict, read });
  if (run.refused.size > 0) return [];
  if (rows.includes(null)) run.events.add(conflict ? 'row kept' : 'row suppressed');
  if ((isNeeded || children.length > 0) && rows.includes(null)) throw new Refusal('suppressed');
  // As the relationships stand in the schema: those of tables before those of views.
  const references = [...new Set(children.map((each) => each.reference))];
  for (const reference of references.sort((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1))) {
    const members = children.filter((each) => each.reference === reference);
    const [first] = members;
    if (first === undefined) continue;
    const below = members.flatMap((each) =>
      each.trees.map((tree) => {
        const given = new Map(tree.values);
        giveKey(given, reference, rows[each.index] ?? null);
        return { ...tree, values: given };
      }),
    );
    await insertRows(run, { table: first.table, trees: below, conflict: first.conflict, columns: [], isNeeded: false });
    if (run.refused.size > 0) return [];
  }
  return rows;
}

function giveKey(
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

async function insertLevel(
  run: Run,
  table: Table,
  objects: readonly Values[],
  { conflict, read }: { conflict: Conflict | null; read: readonly string[] },
): Promise<(Row | null)[]> {
  const rows: (Row | null)[] = [];
  const written = new Set<string>();
  /** Refer to rows that are not there yet. */
  const unmet: Values[] = [];
  const shapes = objects.map((object) =>
    table.columns.map(({ name, ddl }) => (ddl !== '' || table.kind !== 'table') && object.has(name)).join(),
  );
  if (new Set(shapes).size > 1) run.events.add('different keys');
  const isUpdating = conflict !== null && conflict.columns.length > 0;
  let before = isUpdating ? await versions(run, table) : null;
  const met = conflict !== null && before !== null ? await lookUp(run, table, conflict, before) : null;
  for (const object of objects) {
    await run.client.query('savepoint object');
    try {
      const row = await insertOne(run, table, object, { conflict, met, read });
      rows.push(row);
      if (before === null) continue;
      const after = await versions(run, table);
      for (const [key, version] of after) {
        if (before.get(key) === version) continue;
        if (written.has(key)) throw new Refusal('BAD_USER_INPUT');
        if (met?.hidden.has(key)) throw new Refusal('CONFLICT');
        written.add(key);
        run.events.add(before.has(key) ? 'row met' : 'row new');
      }
      // A row that an earlier object has written is refused before its filter is asked. Whether it is seen is not known.
      if (row === null && conflict?.filter.length && met === null)
        for (const code of ['BAD_USER_INPUT', 'PERMISSION_DENIED']) run.allowed.add(code);
      before = after;
    } catch (error) {
      run.refused.add(codeOf(error));
      // A later object may be for the row that this one would have written.
      if (isUpdating) run.allowed.add('BAD_USER_INPUT');
      // A row that the view hides is refused before what is written is checked.
      if (met !== null && met.hidden.size > 0 && table.kind === 'view') run.allowed.add('CONFLICT');
      await run.client.query('rollback to object');
      if (objects.length > 1 && (error as pg.DatabaseError).code === '23503') unmet.push(object);
    }
  }
  // Suppressed, not kept: the k-th row of those with these keys is taken for their k-th object.
  const isMoved = new Set(shapes).size > 1 && rows.includes(null) && (conflict === null || !mayKeep(conflict));
  if (isMoved) run.events.add(unknownOrder);
  await findForwardReferences(run, unmet, (object) => insertOne(run, table, object, { conflict, met, read }));
  return rows;
}

/** The gateway writes a list in one statement, so an object may refer to a later one. */
async function findForwardReferences(
  { client, events }: Run,
  unmet: readonly Values[],
  insert: (object: Values) => Promise<unknown>,
): Promise<void> {
  for (const object of unmet) {
    await client.query('savepoint again');
    try {
      await insert(object);
      events.add(forwardReference);
    } catch {
      await client.query('rollback to again');
    }
  }
}

/** Event: the order of the records is not known. */
export const unknownOrder = 'order unknown';

/** Event: refused here, where each object is inserted by itself, but not by the gateway. */
export const forwardReference = 'reference to a later object';

async function insertOne(
  run: Run,
  table: Table,
  object: Values,
  { conflict, met, read }: { conflict: Conflict | null; met: Met | null; read: readonly string[] },
): Promise<Row | null> {
  const values: Value[] = [];
  const names = [...object.keys()];
  const list = names.map((name) => place(table, name, object.get(name) as Value, values));
  const source = names.length === 0 ? 'default values' : `(${names.join(', ')}) values (${list.join(', ')})`;
  const set = conflict?.columns.map((column) => `${column} = excluded.${column}`).join(', ');
  const condition = () =>
    met === null
      ? conditionOf(conflict?.filter ?? [], values)
      : `${keyOf(table)} <> all($${values.push([...met.kept])}::text[])`;
  const update = set ? `update set ${set} where ${condition()}` : 'nothing';
  const clause = conflict ? ` on conflict ${conflict.arbiter} do ${update}` : '';
  const rows = await query(run, `insert into ${pathOf(table)} as t ${source}${clause} ${returning(read)}`, values);
  return rows[0] ?? null;
}

const operations: Readonly<Record<string, (column: string, operand: string) => string>> = {
  'increment count': (column, operand) => `${column} + ${operand}`,
  'append list': (column, operand) => `coalesce(${column}, '{}') || ${operand}`,
  'prepend list': (column, operand) => `${operand} || coalesce(${column}, '{}')`,
  'remove list': (column, operand) =>
    `case when ${column} is not null then array(select e from unnest(${column}) with ordinality as u (e, o) where not exists (select from unnest(${operand}) as r (v) where r.v is not distinct from e) order by o) end`,
  'append json': (column, operand) => `coalesce(${column}, '{}') || ${operand}`,
  'remove json': (column, operand) => `${column} - ${operand}`,
  'append note': (column, operand) => `coalesce(${column}, '') || ${operand}`,
};

/** What is read of changed rows, and the rows that they belong to; undefined: all. */
interface Changed {
  readonly columns: readonly string[];
  readonly within?: { readonly reference: Reference; readonly keys: readonly Row[] };
}

async function changeTree(run: Run, table: Table, change: Change, { columns, within }: Changed): Promise<Payload> {
  const handedOn = change.related.flatMap(({ reference }) => reference.targetColumns);
  const read = { columns: [...new Set([...columns, ...handedOn])], ...(within && { within }) };
  const payload = await updateRows(run, table, change, read);
  const { records } = payload;
  const inserts = change.related.some(({ trees }) => trees.length > 0);
  if (inserts && records.length !== 1) throw new Refusal('BAD_USER_INPUT');
  for (const { reference, table: child, deletes, updates, trees, conflict } of change.related) {
    const inside = { columns: [], within: { reference, keys: records } };
    for (const each of deletes)
      if ((await deleteRows(run, child, each, inside)).affectedCount > 0) run.events.add('related row deleted');
    for (const each of updates)
      if ((await changeTree(run, child, each, inside)).affectedCount > 0) run.events.add('related row updated');
    if (trees.length === 0) continue;
    const given = trees.map((tree) => ({ ...tree, values: new Map(tree.values) }));
    for (const { values } of given) giveKey(values, reference, records[0] ?? null);
    await insertRows(run, { table: child, trees: given, conflict, columns: [], isNeeded: false });
    if (run.refused.size > 0) throw new Refusal([...run.refused][0] as string);
  }
  return payload;
}

async function deleteRows(run: Run, table: Table, { filter, atMost }: Deletion, { columns, within }: Changed) {
  const values: Value[] = [];
  const where = `${belongs(table, within, values)} and ${conditionOf(filter, values)}`;
  const text = `delete from ${pathOf(table)} as t where ${where} ${returning(columns) || 'returning 1'}`;
  return limited(await query(run, text, values), atMost);
}

function belongs(table: Table, within: Changed['within'], values: Value[]): string {
  if (within === undefined) return 'true';
  const { columns, targetColumns } = within.reference;
  const keys = within.keys.map((row) =>
    columns.map((name, index) => {
      const value = row[targetColumns[index] as string] as Value;
      return `t.${name} = ${place(table, name, value, values)}`;
    }),
  );
  return `(${keys.map((each) => `(${each.join(' and ')})`).join(' or ') || 'false'})`;
}

async function updateRows(
  run: Run,
  table: Table,
  { set, operators, filter, atMost }: Change,
  { columns, within }: Changed,
) {
  const values: Value[] = [];
  const assignments = [...set].map(([name, value]) => `${name} = ${place(table, name, value, values)}`);
  for (const { name, column, value } of operators) {
    const type = name === 'remove' ? 'text[]' : column.type;
    const operand = `$${values.push(value)}::${type}`;
    assignments.push(`${column.name} = ${operations[`${name} ${column.domain}`]?.(`t.${column.name}`, operand)}`);
  }
  if (assignments.length === 0) throw new Refusal('BAD_USER_INPUT');
  const where = `${belongs(table, within, values)} and ${conditionOf(filter, values)}`;
  const read = returning(columns) || 'returning 1';
  const text = `update ${pathOf(table)} as t set ${assignments.join(', ')} where ${where} ${read}`;
  return limited(await query(run, text, values), atMost);
}

function limited(rows: readonly Row[], atMost: number): Payload {
  if (rows.length > atMost) throw new Refusal('BAD_USER_INPUT');
  return { affectedCount: rows.length, records: rows };
}

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
