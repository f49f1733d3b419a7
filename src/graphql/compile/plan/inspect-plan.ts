/** Questions about plans: which code they run, whether they are light, and whether their best PostgreSQL plan depends on values. */
import type { Table } from '../../model/model.ts';
import { operatorRow } from '../../schema/operators.ts';
import type {
  CallPlan,
  Condition,
  ConnectionEntry,
  ConnectionPlan,
  Expression,
  LimitPlan,
  ObjectPlan,
  OperationPlan,
  OrderExpression,
  RelatedRows,
  ValuePlan,
  WritePlan,
} from './plan.ts';

/** The rows directly inside a value. */
export function objectsIn(value: ValuePlan): readonly ObjectPlan[] {
  switch (value.kind) {
    case 'row':
      return [value.object];
    case 'result':
      return [value.result.object];
    case 'connection':
      return value.connection.entries.flatMap(rowsShownBy);
    case 'write':
    case 'update_list': {
      const { entries } = value.kind === 'write' ? value.write : value.list;
      return entries.flatMap((entry) => (entry.kind === 'records' ? [entry.object] : []));
    }
    default:
      return [];
  }
}

/** The rows' objects in an entry. */
export function rowsShownBy(entry: ConnectionEntry): readonly ObjectPlan[] {
  if (entry.kind === 'nodes') return [entry.object];
  return entry.kind === 'edges' ? entry.entries.flatMap((edge) => (edge.kind === 'node' ? [edge.object] : [])) : [];
}

/** Whether the entry shows the rows of the page. */
export function showsRows({ kind }: ConnectionEntry): boolean {
  return kind === 'edges' || kind === 'nodes';
}

/** Whether the entry comes from the page. */
export function isOfPage(entry: ConnectionEntry): boolean {
  return showsRows(entry) || entry.kind === 'page_info';
}

/** Number of scans that the parts of a connection make: none, one, or several. Each has the filter. */
export function countScans({ entries, page }: Pick<ConnectionPlan, 'entries' | 'page'>): number {
  const beyond = page.backward ? 'has_next_page' : 'has_previous_page';
  // The flag for the opposite direction needs the first row of all, unless the page starts with it.
  const readsOneMore = (entry: ConnectionEntry) =>
    (page.cursor !== null || page.offset !== null) &&
    entry.kind === 'page_info' &&
    entry.entries.some(({ kind }) => kind === beyond);
  const ofPage = entries.filter(isOfPage);
  const others = entries.filter(({ kind }) => kind === 'total_count' || kind === 'aggregate' || kind === 'groups');
  return Math.min(1, ofPage.length) + ofPage.filter(readsOneMore).length + others.length;
}

/** The table whose rows are in a value, null for none. */
export function tableIn(value: ValuePlan): Table | null {
  if (value.kind === 'row') return value.source.table;
  if (value.kind === 'connection') return value.connection.source.table;
  return value.kind === 'write' ? value.write.table : value.kind === 'update_list' ? value.list.table : null;
}

function writtenBy(value: ValuePlan): readonly Table[] {
  if (value.kind === 'update_list') return [value.list.table];
  return value.kind === 'write' ? writtenTables(value.write) : [];
}

/** Whether one of the values, at any depth, satisfies a test. */
function someValue(values: readonly ValuePlan[], isSuch: (value: ValuePlan) => boolean): boolean {
  return values.some((value) => isSuch(value) || objectsIn(value).some(({ entries }) => someValue(entries, isSuch)));
}

/** The call that a value is the result of; null for none. */
export function calledBy(value: ValuePlan): CallPlan | null {
  if (value.kind === 'call') return value.call;
  if (value.kind === 'result') return value.result.call;
  const source = value.kind === 'row' ? value.source : value.kind === 'connection' ? value.connection.source : null;
  return source?.kind === 'routine' ? source.call : null;
}

function filtersOf(value: ValuePlan): readonly Condition[] {
  if (value.kind === 'connection') return value.connection.filter === null ? [] : [value.connection.filter];
  const changes =
    value.kind === 'write'
      ? [value.write.change]
      : value.kind === 'update_list'
        ? value.list.writes.map(({ change }) => change)
        : [];
  return changes.flatMap((change) => ('filter' in change && change.filter !== null ? [change.filter] : []));
}

function conditionsOf(value: ValuePlan): readonly (Condition | null)[] {
  const entries = value.kind === 'connection' ? value.connection.entries : [];
  const counted = entries.map((entry) => (entry.kind === 'groups' ? (entry.groups.having?.counted ?? null) : null));
  const steps = value.kind === 'write' ? (value.write.nested?.steps ?? [value.write]) : [];
  const written = steps.map(({ change }) =>
    change.kind === 'insert' ? (change.conflict?.filter ?? null) : 'filter' in change ? change.filter : null,
  );
  return [...filtersOf(value), ...counted, ...written];
}

/** A table or routine that may run code when read. */
type Read = Pick<Table, 'readsUserCode'>;

const ownCode: readonly [Read] = [{ readsUserCode: true }];

function readBy({ relationship, table }: Pick<RelatedRows, 'relationship' | 'table'>): readonly Read[] {
  return relationship.through === null ? [table] : [table, relationship.through];
}

function sourceTables(value: ValuePlan): readonly Read[] {
  const source = value.kind === 'connection' ? value.connection.source : null;
  return source?.kind === 'relationship' ? readBy(source) : [];
}

/** Tables and routines that an order or groups read through relationships and functions. */
function readByOrder(value: ValuePlan): readonly Read[] {
  if (value.kind !== 'connection') return [];
  const keys = value.connection.entries.flatMap((entry) => (entry.kind === 'groups' ? entry.groups.keys : []));
  return [...value.connection.order, ...keys].flatMap(({ expression }) => readByExpression(expression));
}

function readByExpression(expression: Expression | OrderExpression): readonly Read[] {
  switch (expression.kind) {
    case 'related':
      return [...readBy(expression.related), ...readByExpression(expression.expression)];
    case 'computed':
      return ownCode;
    case 'json_part':
    case 'element':
      return readByExpression(expression.of);
    default:
      return [];
  }
}

/** Tables and routines that a condition reads through relationships and functions. */
function readByCondition(condition: Condition | null): readonly Read[] {
  switch (condition?.kind) {
    case 'and':
    case 'or':
      return condition.items.flatMap(readByCondition);
    case 'not':
    case 'not_true':
    case 'known':
      return readByCondition(condition.item);
    case 'exists':
    case 'count_related':
    case 'group_related':
      return [...readBy(condition.related), ...readByCondition(condition.related.condition)];
    case 'holds':
      return ownCode;
    case 'compare':
    case 'search':
    case 'null_test':
      return readByExpression(condition.expression);
    case 'json_type':
      return readByExpression(condition.part);
    case 'elements':
      return readByExpression(condition.array);
    default:
      return [];
  }
}

/**
 * Whether an operation may run code that is not PostgreSQL's own: a routine, or code attached to tables
 * (`Table.readsUserCode`). Such code shares the connection with later requests.
 */
export function runsUserCode({ fields }: OperationPlan): boolean {
  return someValue(
    fields,
    (value) =>
      calledBy(value) !== null ||
      tableIn(value)?.readsUserCode === true ||
      readBeside(value).some(({ readsUserCode }) => readsUserCode) ||
      writtenBy(value).some(({ writesUserCode, readsUserCode }) => writesUserCode || readsUserCode),
  );
}

/** Whether an operation calls routines itself. */
export function callsRoutines({ fields }: OperationPlan): boolean {
  return someValue(fields, (value) => calledBy(value) !== null || readBeside(value).includes(ownCode[0]));
}

/** Tables and routines that a value reads, its own table aside. */
function readBeside(value: ValuePlan): readonly Read[] {
  return [...conditionsOf(value).flatMap(readByCondition), ...readByOrder(value), ...sourceTables(value)];
}

function writtenTables({ table, nested }: WritePlan): readonly Table[] {
  return nested === null ? [table] : nested.steps.map((step) => step.table);
}

/**
 * Whether making the object calls a volatile routine, at any depth.
 *
 * PostgreSQL may evaluate other expressions at any time and any number of times. A volatile routine's effects are
 * visible, so it must not be called for rows that are read but not shown (the one after the page).
 */
export function runsVolatile({ entries }: ObjectPlan): boolean {
  return someValue(entries, (value) => calledBy(value)?.routine.volatility === 'volatile');
}

/**
 * The pages on the path of each collection of a light operation: with few rows, it most likely takes PostgreSQL less than a
 * millisecond, for it reads rows by keys or by what their own columns are compared with, and calls no function. Null for
 * others.
 */
export function lightPages({ kind, fields }: OperationPlan): readonly (readonly LimitPlan[])[] | null {
  return kind === 'query' && !someValue(fields, isHeavy) ? fields.flatMap((value) => pagesIn(value, [])) : null;
}

function pagesIn(value: ValuePlan, above: readonly LimitPlan[]): readonly (readonly LimitPlan[])[] {
  const below = objectsIn(value).flatMap(({ entries }) => entries);
  if (value.kind !== 'connection') return below.flatMap((entry) => pagesIn(entry, above));
  const { entries, page } = value.connection;
  const pages = [...above, page.limit];
  const showsPage = entries.some(isOfPage);
  return showsPage ? [pages, ...below.flatMap((entry) => pagesIn(entry, pages))] : [];
}

function isHeavy(value: ValuePlan): boolean {
  if (calledBy(value) !== null || value.kind === 'rank') return true;
  if (value.kind !== 'connection') return false;
  const { source, filter, order, entries } = value.connection;
  const isFiltered = source.kind === 'relationship' || (filter !== null && compares(filter, () => true));
  return (
    (filter !== null && compares(filter, readsMore)) ||
    order.some(({ expression }) => expression.kind !== 'column') ||
    // Counts of whole tables.
    (!isFiltered && entries.some(({ kind }) => kind === 'total_count' || kind === 'aggregate' || kind === 'groups'))
  );
}

// Whether a condition reads other rows, calls a function, or looks into values.
function readsMore(condition: Condition): boolean {
  if (condition.kind !== 'compare') return readsOthers.has(condition.kind) || looksInside(condition);
  const { isPattern } = operatorRow(condition.operator);
  return isPattern || looksInside(condition) || condition.expression.kind === 'computed';
}

const readsOthers: ReadonlySet<Condition['kind']> = new Set([
  'elements',
  'exists',
  'count_related',
  'group_related',
  'holds',
]);

/** When statements get custom plans: never, after a generic plan was slow, or always. */
export type CustomPlanning = 'never' | 'once_slow' | 'always';

/**
 * Whether the best plan of a root field depends on the values of a request.
 *
 * A filter on other columns than the key may match nearly all rows or nearly none, and only PostgreSQL's statistics
 * tell which. By key, by relationship and after a cursor, one index is best for all values.
 *
 * For contents of JSON, texts and arrays, PostgreSQL's generic plan assumes frequent values, and reads in page order
 * until it finds enough rows. Measured, 20 of 1,000,000 rows: 2,100 ms if 20 match, and 0.3 with a custom plan; 0.03 ms
 * if half of them match, and 0.1.
 */
export function customPlanning({ kind, fields }: OperationPlan): CustomPlanning {
  const filters = fields.flatMap((value) => {
    const table = tableIn(value);
    return table === null ? [] : filtersOf(value).filter((filter) => !pinsPrimaryKey(table, filter));
  });
  if (!filters.some((filter) => compares(filter, () => true))) return 'never';
  return kind === 'mutation' || filters.some((filter) => compares(filter, looksInside)) ? 'always' : 'once_slow';
}

function looksInside(condition: Condition): boolean {
  if (condition.kind === 'compare') return operatorRow(condition.operator).looksInside;
  return condition.kind === 'search';
}

// Whether a condition compares with a value and satisfies a test.
function compares(condition: Condition, isSuch: (condition: Condition) => boolean): boolean {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.items.some((item) => compares(item, isSuch));
    case 'not':
    case 'not_true':
    case 'known':
      return compares(condition.item, isSuch);
    case 'null_test':
    case 'constant':
      return false;
    case 'exists':
    case 'count_related':
    case 'group_related': {
      const below = condition.related.condition;
      return isSuch(condition) || (below !== null && compares(below, isSuch));
    }
    default:
      return isSuch(condition);
  }
}

/** Whether the condition fixes all columns of the primary key. */
export function pinsPrimaryKey(table: Table, condition: Condition | null): boolean {
  const pinned = new Set(pinnedColumns(condition));
  return table.primaryKey.every((number) => pinned.has(number));
}

function pinnedColumns(condition: Condition | null): readonly number[] {
  switch (condition?.kind) {
    case 'and':
      return condition.items.flatMap(pinnedColumns);
    case 'compare':
      return condition.operator === 'eq' && condition.expression.kind === 'column'
        ? [condition.expression.column.number]
        : [];
    case 'key':
      return condition.table.primaryKey;
    default:
      return [];
  }
}

/** Whether the number of rows decides the answer of a write, and nothing need be read. */
export function isCounted({ unreadWrites }: Table, { entries, isRow }: Pick<WritePlan, 'entries' | 'isRow'>): boolean {
  const isUnread = (entry: WritePlan['entries'][number]) =>
    entry.kind !== 'records' || (isRow && entry.object.entries.every(({ kind }) => kind === 'typename'));
  return unreadWrites && entries.every(isUnread);
}
