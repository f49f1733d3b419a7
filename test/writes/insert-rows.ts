/** Objects of an insert in plain SQL, one by one. */
import type pg from 'pg';
import { textOf } from './document.ts';
import { connectRows, findRow, giveKey } from './link-rows.ts';
import { keyOf, lookUp, type Met, versions } from './met-rows.ts';
import {
  codeOf,
  conditionOf,
  countOf,
  pathOf,
  place,
  query,
  Refusal,
  type Row,
  type Run,
  returning,
  telling,
} from './statements.ts';
import { columnNamed, type Value, type Values } from './values.ts';
import type { Table } from './world.ts';
import type { Conflict, Tree } from './write.ts';

function placeOf({ down }: Tree['down'][number]['reference']): string {
  return `${down.endsWith('_v') ? 1 : 0} ${down}`;
}

function namesIn({ values, up, down }: Tree): string {
  return [...values.keys(), ...[...up, ...down].map(({ reference }) => reference.up)].join();
}

interface Level {
  readonly table: Table;
  readonly trees: readonly Tree[];
  readonly conflict: Conflict | null;
  /** What is read of each row; null: nothing is read back. */
  readonly columns: readonly string[] | null;
  /** Other rows are made with these: none may be missing. */
  readonly isNeeded: boolean;
  /** The answer shows them. */
  readonly isRoot?: boolean;
}

/** Rows of a level after those that they refer to, and before those that refer to them. Null: suppressed or kept as it was. */
export async function insertRows(
  run: Run,
  { table, trees, conflict, columns, isNeeded, isRoot = false }: Level,
): Promise<(Row | null)[]> {
  const values = trees.map((tree) => new Map(tree.values));
  for (const reference of table.references) {
    const above = trees.flatMap(({ up }, index) =>
      up.filter((each) => each.reference === reference).map((each) => ({ ...each, index })),
    );
    const added = above.filter((each) => each.tree !== null);
    // Equal objects of a field are one row.
    const texts = added.map(({ tree, conflict }) => textOf(reference, tree, conflict));
    const different = [...new Set(texts)].filter((text) => !run.shared.has(text));
    if (different.length < added.length) run.events.add('row shared');
    const names = different.map((text) => namesIn(added[texts.indexOf(text)]?.tree as Tree));
    if (new Set(names).size < names.length) run.events.add('rows of equal names');
    if (added.length > 0 && new Set(texts).size > different.length) run.events.add('row shared by several places');
    if (different.length > 0) {
      const level = {
        table: reference.target,
        trees: different.map((text) => added[texts.indexOf(text)]?.tree as Tree),
        conflict: added[0]?.conflict ?? null,
      };
      const rows = await insertRows(run, { ...level, columns: reference.targetColumns, isNeeded: true });
      if (run.refused.size > 0) return [];
      for (const [at, text] of different.entries()) run.shared.set(text, rows[at] ?? null);
    }
    for (const [at, { index }] of added.entries()) {
      const row = run.shared.get(texts[at] as string) ?? null;
      if (row !== null && !reference.targetColumns.every((name) => name in row)) run.events.add(sharedByAnotherKey);
      giveKey(values[index] as Map<string, Value>, reference, row);
    }
    for (const { key, index } of above)
      if (key !== null)
        giveKey(values[index] as Map<string, Value>, reference, await findRow(run, reference.target, key, reference));
  }
  const children = trees.flatMap(({ down }, index) => down.map((each) => ({ ...each, index })));
  const handedOn = children.flatMap(({ reference }) => reference.targetColumns);
  const needed = [...new Set([...(columns ?? []), ...handedOn])];
  const isKnown = (run.isCounted || !isRoot) && needed.length > 0 && areKnown(run, { table, conflict }, values, needed);
  if (isKnown) {
    run.events.add('keys known before');
    await drawKeys(run, table, values, needed);
  }
  // Rows that are read at all are shown to the writer in the end.
  const isUnread = run.isCounted && columns === null;
  const asked = needed.length === 0 ? columns : isUnread ? [...new Set([...needed, ...table.key])] : needed;
  const counted = await insertLevel(run, table, values, { conflict, read: isKnown ? null : asked });
  const rows = isKnown
    ? counted.map((row, index) => row && Object.fromEntries(values[index] as ReadonlyMap<string, Value>))
    : counted;
  if (run.refused.size > 0) return [];
  if (rows.includes(null)) run.events.add(conflict ? 'row kept' : 'row suppressed');
  if ((isNeeded || children.length > 0) && rows.includes(null)) throw new Refusal('suppressed');
  // As the relationships stand in the schema: those of tables before those of views.
  const references = [...new Set(children.map((each) => each.reference))];
  for (const reference of references.sort((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1))) {
    const members = children.filter((each) => each.reference === reference);
    const [first] = members;
    if (first === undefined) continue;
    const named = members.flatMap(({ keys, index }) => keys.map((key) => ({ key, row: rows[index] ?? null })));
    await connectRows(run, first.table, reference, named);
    const below = members.flatMap((each) =>
      each.trees.map((tree) => {
        const given = new Map(tree.values);
        giveKey(given, reference, rows[each.index] ?? null);
        return { ...tree, values: given };
      }),
    );
    if (below.length === 0) continue;
    const inserting = members.find((each) => each.trees.length > 0);
    const level = { table: first.table, trees: below, conflict: inserting?.conflict ?? null };
    await insertRows(run, { ...level, columns: null, isNeeded: false });
    if (run.refused.size > 0) return [];
  }
  return isKnown && columns === null ? rows.map((row) => row && {}) : rows;
}

/** Whether all objects give these columns of their rows, or their sequences do, and nothing changes what they give. */
function areKnown(
  run: Run,
  { table, conflict }: Pick<Level, 'table' | 'conflict'>,
  objects: readonly Values[],
  needed: readonly string[],
): boolean {
  const isChanged = table.kind !== 'table' || table.traits.has('partitions') || !table.traits.has('inserts as given');
  if (isChanged || conflict !== null) return false;
  const isDrawn = (name: string) => columnNamed(table, name).isGenerated && run.insertable(table).has(name);
  return needed.every((name) => isDrawn(name) || objects.every((object) => isGiven(table, object, name)));
}

/** Whether an object gives a column. A null stands for a generated key. */
function isGiven(table: Table, object: Values, name: string): boolean {
  return object.has(name) && !(object.get(name) === null && columnNamed(table, name).isGenerated);
}

/** The next numbers for objects without a key. */
async function drawKeys(
  run: Run,
  table: Table,
  objects: readonly Map<string, Value>[],
  needed: readonly string[],
): Promise<void> {
  for (const object of objects)
    for (const name of needed) {
      if (isGiven(table, object, name)) continue;
      run.events.add('keys drawn before');
      const text = `select nextval(pg_get_serial_sequence('${pathOf(table)}', '${name}'))::int as number`;
      object.set(name, (await query(run, text, []))[0]?.number as number);
    }
}

async function insertLevel(
  run: Run,
  table: Table,
  objects: readonly Values[],
  { conflict, read }: { conflict: Conflict | null; read: readonly string[] | null },
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
  const met = conflict !== null && before !== null ? await lookUpFirst(run, table, conflict, before) : null;
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
      if ((error as pg.DatabaseError).code === '23505') run.events.add(telling.taken);
      // A later object may be for the row that this one would have written.
      if (isUpdating) run.allowed.add('BAD_USER_INPUT');
      // A row that the view hides is refused before what is written is checked.
      if (met !== null && met.hidden.size > 0 && table.kind === 'view') run.allowed.add('CONFLICT');
      await run.client.query('rollback to object');
      if (objects.length > 1 && (error as pg.DatabaseError).code === '23503') unmet.push(object);
    }
  }
  await findForwardReferences(run, unmet, (object) => insertOne(run, table, object, { conflict, met, read }));
  return rows;
}

/** The gateway is refused for its values before its filter is asked. */
async function lookUpFirst(run: Run, ...asked: [Table, Conflict, ReadonlyMap<string, string>]): Promise<Met | null> {
  try {
    return await lookUp(run, ...asked);
  } catch (error) {
    run.allowed.add('BAD_USER_INPUT');
    throw error;
  }
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

/** Event: another place needs another key of a shared row, which is not read here. */
export const sharedByAnotherKey = 'row shared by another key';

/** Event: refused here, where each object is inserted by itself, but not by the gateway. */
export const forwardReference = 'reference to a later object';

async function insertOne(
  run: Run,
  table: Table,
  object: Values,
  { conflict, met, read }: { conflict: Conflict | null; met: Met | null; read: readonly string[] | null },
): Promise<Row | null> {
  const values: Value[] = [];
  const names = [...object.keys()].filter((name) => isGiven(table, object, name));
  const list = names.map((name) => place(table, name, object.get(name) as Value, values));
  const source = names.length === 0 ? 'default values' : `(${names.join(', ')}) values (${list.join(', ')})`;
  const set = conflict?.columns.map((column) => `${column} = excluded.${column}`).join(', ');
  const condition = () =>
    met === null
      ? conditionOf(conflict?.filter ?? [], values)
      : `${keyOf(table)} <> all($${values.push([...met.kept])}::text[])`;
  const update = set ? `update set ${set} where ${condition()}` : 'nothing';
  const clause = conflict ? ` on conflict ${conflict.arbiter} do ${update}` : '';
  const text = `insert into ${pathOf(table)} as t ${source}${clause} ${returning(read ?? [])}`;
  if (read !== null) return (await query(run, text, values))[0] ?? null;
  return (await countOf(run, text, values)) === 0 ? null : {};
}
