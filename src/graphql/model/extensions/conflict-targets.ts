/** The unique indexes that an insert can name for conflicts (extension `writes`, docs/upsert.md). */
import type { CatalogIndex } from '../../catalog/catalog.ts';
import { quoteName, quotePath } from '../../catalog/quote-name.ts';
import { validName } from '../comments/comment-fix.ts';
import type { IndexExpression } from '../index-tokens.ts';
import { isEnumValueName } from '../inflect.ts';
import type { Column, ConflictTarget, Table } from '../model.ts';
import { describeTable, hasExtension, type ModelContext, noteOmission } from '../model-context.ts';
import { readIndexExpression } from '../tables/index-expression.ts';
import { rowOf } from './added-entries.ts';

/** The table with its conflict targets. */
export function addConflictTargets(context: ModelContext, table: Table): Table {
  if (!table.insert || !hasExtension(context, table, 'writes')) return table;
  const row = rowOf(context, table);
  const base = row.getBase();
  const indexes = table.kind === 'view' ? (base?.indexes ?? []) : row.getIndexes();
  const hiddenBy =
    base !== null && !base.showsAllRows ? 'view' : base !== null || table.rowSecurity ? 'policy' : 'nothing';
  const columnOf = (number: number) => (table.kind === 'view' ? base?.columns.get(number) : number);
  // No object meets a row by a number that only a sequence draws.
  const isNeverGiven = (number: number) => {
    const drawn = row.getAttributes().find(({ attnum }) => attnum === number);
    const isDrawn = table.kind === 'table' && (drawn?.attidentity || drawn?.ownsSequence);
    return isDrawn && table.columns.find((column) => column.number === number)?.insertable !== true;
  };
  const conflictTargets = indexes.flatMap((index) => {
    if (!isArbiter(index, indexes)) return [];
    if (keysOf(index).some(isNeverGiven)) return [];
    const found = toTarget(index, columnOf);
    // A row of a child table could be taken for the hidden one.
    const isUnique = !(hiddenBy === 'view' && index.hasChildTables);
    const identity = isUnique ? findIdentity(table, index, indexes, columnOf) : null;
    const target = found && ({ ...found, hiddenBy, identity } as const);
    // Hidden rows could not be told from others.
    if (target?.identity === null && hiddenBy !== 'nothing') return [];
    if (target !== null && !columnsOf(target).every((number) => isSelectable(table, number))) return [];
    if (target !== null && isEnumValueName(target.name)) return [target];
    // Operators find the index with its table.
    if (table.kind !== 'view') noteIndex(context, table, index, target);
    return [];
  });
  return { ...table, conflictTargets };
}

/** Whether an upsert can write the column: `excluded` needs SELECT. */
export function isUpsertable({ insertable, updatable, selectable, fieldName }: Column): boolean {
  return insertable && updatable && selectable && fieldName !== null && isEnumValueName(fieldName);
}

// PostgreSQL takes all indexes that fit the columns, and refuses a deferrable one among them.
function isArbiter(index: CatalogIndex, indexes: readonly CatalogIndex[]): boolean {
  return (
    isUsable(index) &&
    !index.hasRules &&
    indexes.every((other) => other.indimmediate === true || !hasSameKeys(index, other))
  );
}

/** A valid, immediate unique index. A constraint `without overlaps` is an exclusion constraint. */
export function isUsable({ indisvalid, indimmediate, indisexclusion }: CatalogIndex): boolean {
  return indisvalid === true && indimmediate === true && indisexclusion !== true;
}

function hasSameKeys(one: CatalogIndex, other: CatalogIndex): boolean {
  const [keys, others] = [new Set(keysOf(one)), new Set(keysOf(other))];
  return one.indexprs === null && keys.size === others.size && keys.isSubsetOf(others);
}

/** The columns of its key, without those it only includes. */
export function keysOf({ indkey, indnkeyatts }: CatalogIndex): readonly number[] {
  return indkey.slice(0, indnkeyatts ?? indkey.length);
}

/**
 * Columns of the primary key, or else those of the target: a row that it meets has values in them. Another index may
 * hold rows that are equal but for their nulls.
 */
function findIdentity(
  table: Table,
  target: CatalogIndex,
  indexes: readonly CatalogIndex[],
  columnOf: (number: number) => number | undefined,
): readonly number[] | null {
  const primary = indexes.filter(({ indisprimary }) => indisprimary === true);
  const keys = [...primary, ...(target.nullsNotDistinct ? [] : [target])]
    .filter((index) => isUsable(index) && index.indexprs === null && index.indpred === null)
    .map((index) => keysOf(index).map((number) => columnOf(number) ?? 0));
  return keys.find((key) => key.every((number) => isSelectable(table, number))) ?? null;
}

/** @param columnOf The table's column for that of the index; undefined: a view does not pass it on. */
function toTarget(
  index: CatalogIndex,
  columnOf: (number: number) => number | undefined,
): Pick<ConflictTarget, 'name' | 'keys' | 'predicate'> | null {
  const columns = new Map(Object.entries(index.columns ?? {}).map(([name, number]) => [name, columnOf(number) ?? 0]));
  const read = (text: string | null | undefined) => (text == null ? null : readIndexExpression(text, columns));
  const expressions = [...(index.indexprs ?? [])];
  const keys = keysOf(index).map((number): IndexExpression | null =>
    number === 0 ? read(expressions.shift()) : [{ kind: 'column', number: columnOf(number) ?? 0 }],
  );
  const predicate = read(index.indpred);
  if (index.indpred !== null && predicate === null) return null;
  return keys.every((key) => key !== null) ? { name: index.relname, keys, predicate } : null;
}

function columnsOf({ keys, predicate }: Pick<ConflictTarget, 'keys' | 'predicate'>): readonly number[] {
  return [...keys, predicate ?? []].flat().flatMap((token) => (token.kind === 'column' ? [token.number] : []));
}

function isSelectable({ columns }: Table, number: number): boolean {
  return columns.find((column) => column.number === number)?.selectable === true;
}

function noteIndex(
  context: ModelContext,
  table: Table,
  { relname }: CatalogIndex,
  target: ConflictTarget | null,
): void {
  noteOmission(context, () => {
    const subject = `${describeTable(context, rowOf(context, table))} has no "${relname}" in "onConflict"`;
    const object = quotePath(table.namespace, table.name);
    if (target === null) {
      const reason = `${subject}: an expression of the unique index is too complex.`;
      return { kind: 'type', object, names: [relname], reason, fix: null };
    }
    const name = freeIndexName(context, table, relname);
    const fix = `alter index ${quotePath(table.namespace, relname)} rename to ${quoteName(name)};`;
    return {
      kind: 'name',
      object,
      names: [relname],
      reason: `${subject}: the name of the unique index is no GraphQL name.`,
      fix,
    };
  });
}

/** A similar name that GraphQL accepts; with the table's name before it if another index or table has that. */
function freeIndexName(context: ModelContext, table: Table, relname: string): string {
  const { relnamespace } = rowOf(context, table);
  const taken = context.catalog.tables
    .filter((row) => row.relnamespace === relnamespace)
    .flatMap((row) => [row.relname, ...row.getIndexes().map((index) => index.relname)]);
  const name = validName(relname);
  return isEnumValueName(name) && !taken.includes(name) ? name : validName(`${table.name}_${relname}`);
}
