/** The unique keys that name a row of a table in a link (extension `writes`, docs/nested-writes.md). */
import { baseForm, inflectedAnd } from '../inflect.ts';
import type { Column, Table, TableKey } from '../model.ts';
import { hasExtension, type ModelContext, tablePath } from '../model-context.ts';
import type { NameClaims } from '../name-claims.ts';
import { isJson } from '../tables/columns.ts';
import { isStored } from '../tables/tables.ts';
import { isUsable, keysOf } from './conflict-targets.ts';
import { noteTakenName } from './taken-names.ts';

/**
 * The table with its keys, the primary key first. Each has a unique index of all rows, at every moment, over columns that
 * the role can compare.
 */
export function addKeys(context: ModelContext, table: Table): Table {
  if (!hasExtension(context, table, 'writes') || !(isStored(table.kind) || table.kind === 'view')) return table;
  const row = context.catalog.table(table.oid)!;
  const base = row.getBase();
  const indexes = (table.kind === 'view' ? (base?.indexes ?? []) : row.getIndexes()).filter(
    (index) => isUsable(index) && index.indexprs === null && index.indpred === null && !index.hasChildTables,
  );
  const inOrder = [...indexes].sort((a, b) => Number(b.indisprimary === true) - Number(a.indisprimary === true));
  const keys = new Map<string, TableKey>();
  for (const index of inOrder) {
    const numbers = keysOf(index).map((number) => (table.kind === 'view' ? base?.columns.get(number) : number));
    const columns = numbers.map((number) => table.columns.find((column) => column.number === number));
    if (!columns.every((column) => column !== undefined && isComparable(column))) continue;
    const key = toKey(table, columns as readonly Column[]);
    // A column may have the name of several; of equal ones, the first stays.
    if (!keys.has(key.fieldName)) keys.set(key.fieldName, key);
  }
  return { ...table, keys: [...keys.values()] };
}

function isComparable({ selectable, filterable, fieldName, type }: Column): boolean {
  return selectable && filterable && fieldName !== null && type !== null && type.kind !== 'list' && !isJson(type);
}

function toKey({ baseName }: Table, columns: readonly Column[]): TableKey {
  const fieldName = inflectedAnd(columns.map((column) => column.fieldName!));
  const isSingle = columns.length === 1;
  return {
    fieldName,
    columns: columns.map(({ number }) => number),
    inputName: isSingle ? null : `${baseName}${baseForm(fieldName, true)}Key`,
  };
}

/** The keys whose inputs get their names. */
export function claimKeyInputs(context: ModelContext, table: Table, claims: NameClaims): readonly TableKey[] {
  return table.keys.filter(({ fieldName, inputName }) => {
    const object = tablePath(context, context.catalog.table(table.oid)!);
    const holder = inputName === null ? null : claims.claim([inputName], `table ${object}`);
    if (holder === null) return true;
    noteTakenName(context, table, { name: inputName!, holder, what: `the key "${fieldName}"` });
    return false;
  });
}
