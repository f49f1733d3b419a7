/** Updates and deletes with those of related rows, in plain SQL. */
import { insertRows } from './insert-rows.ts';
import { connectRows, findRow, giveKey } from './link-rows.ts';
import { conditionOf, pathOf, place, query, Refusal, type Row, type Run, returning, telling } from './statements.ts';
import { columnNamed, type RelatedFilter, type Value } from './values.ts';
import type { Reference, Table } from './world.ts';
import type { Change, Deletion, Link, Related } from './write.ts';

/** The answer of one field, or of one entry. */
export interface Payload {
  readonly affectedCount: number;
  readonly records: readonly Row[];
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
  readonly within?: { readonly reference: Pick<Reference, 'columns' | 'targetColumns'>; readonly keys: readonly Row[] };
  /** Rows that stay as they are, by their keys. */
  readonly except?: readonly Row[];
}

export async function changeTree(
  run: Run,
  table: Table,
  change: Change,
  { columns, within }: Changed,
): Promise<Payload> {
  const values = new Map(change.set);
  for (const link of change.links)
    for (const [name, value] of await linkedValues(run, table, link)) values.set(name, value);
  const ends = [
    ...change.related.flatMap(({ reference }) => reference.targetColumns),
    ...change.links.flatMap(({ way, reference }) => (way === 'update' ? reference.columns : [])),
  ];
  const read = { columns: [...new Set([...columns, ...ends])], ...(within && { within }) };
  const isChosen = values.size + change.operators.length === 0 && change.links.length + change.related.length > 0;
  const payload = isChosen
    ? await chooseRows(run, table, change, read)
    : await updateRows(run, table, { ...change, set: values }, read);
  const { records } = payload;
  const needsOne =
    change.links.some(({ way }) => way === 'insert') ||
    change.related.some(({ trees, keys, replace }) => trees.length + keys.length > 0 || replace !== null);
  if (needsOne && records.length !== 1) throw new Refusal('BAD_USER_INPUT');
  for (const link of change.links) {
    if (link.way !== 'update') continue;
    const { columns, target, targetColumns } = link.reference;
    const turned = { ...link.reference, columns: targetColumns, targetColumns: columns, target: table };
    const inside = { columns: [], within: { reference: turned, keys: records } };
    if ((await changeTree(run, target, link.change, inside)).affectedCount > 0) run.events.add('row above updated');
  }
  for (const related of change.related) await changeRelated(run, related, records);
  return payload;
}

/** What a link sets. */
async function linkedValues(run: Run, table: Table, link: Link): Promise<Map<string, Value>> {
  const { reference } = link;
  const values = new Map<string, Value>();
  if (link.way === 'insert') {
    const level = { table: reference.target, trees: [link.tree], conflict: link.conflict };
    const [row = null] = await insertRows(run, { ...level, columns: reference.targetColumns, isNeeded: true });
    if (run.refused.size > 0) throw new Refusal([...run.refused][0] as string);
    giveKey(values, reference, row);
  }
  if (link.way === 'connect') giveKey(values, reference, await findRow(run, reference.target, link.key, reference));
  if (link.way === 'disconnect') for (const name of emptied(run, table, reference)) values.set(name, null);
  if (link.way !== 'update') run.events.add(`link: ${link.way}`);
  return values;
}

/** The columns that are set to null, of those that take one and that the role may change. */
function emptied({ updatable }: Run, table: Table, { columns }: Reference): readonly string[] {
  const takesNull = (name: string) => table.kind !== 'table' || !columnNamed(table, name).ddl.includes('not null');
  const some = columns.filter((name) => takesNull(name) && updatable(table).has(name));
  if (some.length === 0) throw new Refusal('BAD_USER_INPUT');
  return some;
}

async function changeRelated(
  run: Run,
  { reference, table, deletes, updates, disconnects, keys, replace, trees, conflict }: Related,
  records: readonly Row[],
): Promise<void> {
  const inside = { columns: table.key, within: { reference, keys: records } };
  const kept: Row[] = [];
  for (const each of deletes)
    if ((await deleteRows(run, table, each, inside)).affectedCount > 0) run.events.add('related row deleted');
  for (const each of updates) kept.push(...(await changeTree(run, table, each, inside)).records);
  if (kept.length > 0) run.events.add('related row updated');
  const removed = () => ({
    set: new Map(emptied(run, table, reference).map((name) => [name, null])),
    operators: [],
  });
  for (const each of disconnects)
    if ((await updateRows(run, table, { ...removed(), ...each }, inside)).affectedCount > 0)
      run.events.add('related row disconnected');
  kept.push(
    ...(await connectRows(
      run,
      table,
      reference,
      keys.map((key) => ({ key, row: records[0] ?? null })),
    )),
  );
  const insert = async () => {
    if (trees.length === 0) return [];
    const given = trees.map((tree) => ({ ...tree, values: new Map(tree.values) }));
    for (const { values } of given) giveKey(values, reference, records[0] ?? null);
    const columns = replace !== null && conflict !== null ? table.key : null;
    const rows = await insertRows(run, { table, trees: given, conflict, columns, isNeeded: columns !== null });
    if (run.refused.size > 0) throw new Refusal([...run.refused][0] as string);
    return rows.filter((row) => row !== null);
  };
  // Rows that may be met are written before others are removed.
  if (conflict !== null) kept.push(...(await insert()));
  if (replace !== null) {
    const guards = { filter: [], atMost: replace.atMost ?? 30 };
    const others = { ...inside, except: kept };
    const { affectedCount } =
      replace.how === 'DELETE'
        ? await deleteRows(run, table, guards, others)
        : await updateRows(run, table, { ...removed(), ...guards }, others);
    if (affectedCount > 0) run.events.add(`row replaced: ${replace.how}`);
  }
  if (conflict === null) await insert();
}

/** Deletes rows. */
export async function deleteRows(run: Run, table: Table, { filter, atMost }: Deletion, changed: Changed) {
  const values: Value[] = [];
  const where = chosen(table, filter, changed, values);
  const text = `delete from ${pathOf(table)} as t where ${where} ${returning(changed.columns) || 'returning t.hits'}`;
  return limited(run, await query(run, text, values), atMost);
}

function chosen(table: Table, filter: RelatedFilter, { within, except = [] }: Changed, values: Value[]): string {
  const others = except.map(
    (row) =>
      `not (${table.key.map((name) => `t.${name} = ${place(table, name, row[name] as Value, values)}`).join(' and ')})`,
  );
  return [belongs(table, within, values), ...others, conditionOf(filter, values)].join(' and ');
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

/** Rows that do not change, but may be changed by the role. */
async function chooseRows(run: Run, table: Table, { filter, atMost }: Deletion, changed: Changed) {
  const values: Value[] = [];
  const where = chosen(table, filter, changed, values);
  const list = changed.columns.map((name) => `t.${name}`).join(', ') || '1';
  const lock = table.kind === 'table' ? ' for update' : '';
  run.events.add('rows chosen');
  return limited(
    run,
    await query(run, `select ${list} from ${pathOf(table)} as t where ${where}${lock}`, values),
    atMost,
  );
}

async function updateRows(
  run: Run,
  table: Table,
  { set, operators, filter, atMost }: Pick<Change, 'set' | 'operators' | 'filter' | 'atMost'>,
  changed: Changed,
): Promise<Payload> {
  const values: Value[] = [];
  const assignments = [...set].map(([name, value]) => `${name} = ${place(table, name, value, values)}`);
  for (const { name, column, value } of operators) {
    const type = name === 'remove' ? 'text[]' : column.type;
    const operand = `$${values.push(value)}::${type}`;
    assignments.push(`${column.name} = ${operations[`${name} ${column.domain}`]?.(`t.${column.name}`, operand)}`);
  }
  if (assignments.length === 0) throw new Refusal('BAD_USER_INPUT');
  const where = chosen(table, filter, changed, values);
  const read = returning(changed.columns) || 'returning t.hits';
  const text = `update ${pathOf(table)} as t set ${assignments.join(', ')} where ${where} ${read}`;
  return limited(run, await query(run, text, values), atMost);
}

function limited({ events }: Run, rows: readonly Row[], atMost: number): Payload {
  if (rows.length > atMost) {
    events.add(telling.exceeded);
    throw new Refusal('BAD_USER_INPUT');
  }
  return { affectedCount: rows.length, records: rows };
}
