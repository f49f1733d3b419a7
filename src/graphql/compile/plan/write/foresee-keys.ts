/**
 * Which keys of rows are known before these are inserted: then nothing of them is read back (docs/row-security.md). The objects
 * give them, or rows that the objects refer to, or a default that may be computed first: the rows then get that value.
 *
 * A trigger may change a key or suppress its row, an upsert may meet a row with another key, and a view or partitioned
 * table has triggers elsewhere: related rows could get a wrong parent.
 */
import type { Column, Table } from '../../../model/model.ts';
import { placesText } from '../../input/composite-text.ts';
import type { InsertChange } from '../plan.ts';
import type { ForeseenKeys, InsertColumn, KeySource } from './nested-writes.ts';

/** Where keys of rows come from that nobody asks for. */
export function sourceOfKeys(table: Table, change: InsertChange, keys: readonly Column[]): KeySource {
  if (table.kind !== 'table' || table.hasRules || table.changesInserts || change.conflict !== null) return 'changed';
  return keys.every((key) => isForeseeable(change, key)) ? 'objects' : 'made';
}

function isForeseeable(change: InsertChange, key: Column): boolean {
  const index = change.columns.findIndex(({ column }) => column === key);
  if (index >= 0 && isGivenByAll(change, index)) return true;
  return key.earlyDefault !== null && (change.columns[index]?.kept.length ?? 0) === 0;
}

/** Whether no object uses the default of the column. */
function isGivenByAll({ columns, rows }: InsertChange, index: number): boolean {
  return rows === null ? !columns[index]!.isOmitted : rows.every((cells) => cells[index] !== 'default');
}

/**
 * The foreseen keys of an insert, and the insert that takes those from them that are no object's own.
 *
 * @param step The number of its step, which keeps the keys.
 */
export function foreseeKeys(change: InsertChange, keys: readonly Column[], step: number) {
  const found = keys.map((column) => {
    const at = change.columns.findIndex((each) => each.column === column);
    return { column, at, isEvery: at >= 0 && isGivenByAll(change, at) };
  });
  const made = found.filter(({ isEvery }) => !isEvery);
  // Anything with an element for each object counts them.
  const counting = change.columns.slice(0, change.links.length > 0 ? 0 : 1);
  const given = found.flatMap(({ at }) => change.columns[at] ?? []).filter(({ isOmitted }) => !isOmitted);
  const columns = given.length > 0 ? given : counting;
  const indexOf = (column: Column) => given.findIndex((each) => each.column === column);
  const foreseen: ForeseenKeys = {
    columns,
    links: change.links,
    keys: found.map(({ column, isEvery }) => ({
      column,
      given: indexOf(column) < 0 ? null : indexOf(column),
      isEvery,
    })),
  };
  if (made.length === 0) return { change, foreseen };
  const link = change.links.length;
  const places =
    change.rows && ({ kind: 'constant', value: placesText(change.rows.map((_, index) => index + 1)) } as const);
  const keptAs = (column: Column, base: Partial<InsertColumn>): InsertColumn => ({
    values: null,
    named: null,
    ...base,
    column,
    isOmitted: false,
    kept: [{ link, key: keys.indexOf(column) }],
  });
  const isMade = (column: Column) => made.some((each) => each.column === column);
  const added = made.filter(({ at }) => at < 0).map(({ column }) => keptAs(column, {}));
  const own = change.columns.map((each) => (isMade(each.column) ? keptAs(each.column, each) : each));
  const rows = change.rows?.map((cells) => [
    ...cells.map((cell, index) => (isMade(change.columns[index]!.column) ? { value: null } : cell)),
    ...added.map(() => ({ value: null })),
  ]);
  const links = [...change.links, { step, places, isEvery: true }];
  return { change: { ...change, columns: [...own, ...added], links, rows: rows ?? null }, foreseen };
}
