/**
 * Prints a connection as one scalar subquery.
 *
 * Its page is an inner select with order and limit, so expressions per row (nested collections, computed fields) run
 * only for rows of the page. Total count and aggregates are separate subqueries, printed only if selected. `edges` is
 * `select coalesce(json_agg(e), '[]') from (select … order by … limit …) as p cross join lateral (…) as e`. At the
 * root, where it may be long, it is text joined from its rows' texts (print-text.ts).
 */

import { invariant } from '../../../shared/invariant.ts';
import { objectPieces } from '../answer/row-layout.ts';
import { countScans, isOfPage, showsRows } from '../plan/inspect-plan.ts';
import type { ConnectionEntry, ConnectionPlan, LimitPlan, SetSource } from '../plan/plan.ts';
import { conjunction, printCondition, printJoin, where } from '../sql/condition.ts';
import { printEntries, printObject } from '../sql/object.ts';
import { current, printCall, type SqlPrinter, tableName } from '../sql/printer.ts';
import { directRow, list, type Names, type Row, type RowSet, SubqueryRow } from '../sql/row.ts';
import { empty, ident, type Sql, sql } from '../sql/sql.ts';
import { printAggregate } from './print-aggregate.ts';
import { printGroups } from './print-groups.ts';
import { type PrintedPage, printPage } from './print-page.ts';
import { printLimit } from './print-scan.ts';
import { printSortKeys } from './print-sort-keys.ts';
import { type Frame, jsonText, printText, type TextPart } from './print-text.ts';

/** A connection as json. */
export function printConnection(printer: SqlPrinter, plan: ConnectionPlan, parent: Row | null): Sql {
  return printSubquery(printer, plan, parent, null);
}

/** A connection at the root, as JSON text in a frame. For connections with rows. */
export function printConnectionText(printer: SqlPrinter, plan: ConnectionPlan, frame: Frame): Sql {
  return printSubquery(printer, plan, null, frame);
}

function printSubquery(printer: SqlPrinter, plan: ConnectionPlan, parent: Row | null, frame: Frame | null): Sql {
  const { source } = plan;
  if (source.kind === 'routine') return printRoutineConnection(printer, { ...plan, source }, parent, frame);
  const rows = tableRows(printer, { ...plan, source }, parent);
  return sql`(${printSelect(printer, plan, rows, { frame })})`;
}

type TableConnectionPlan = ConnectionPlan & { readonly source: Exclude<SetSource, { kind: 'routine' }> };

/** The rows of a connection: of a table, or of a relationship of `parent`. */
export function tableRows(printer: SqlPrinter, plan: TableConnectionPlan, parent: Row | null): RowSet {
  const { source } = plan;
  return {
    table: source.table,
    isStored: true,
    ofParent: source.kind === 'relationship',
    scan(order, part = 'all') {
      const alias = printer.names.next('t');
      const row = directRow(alias, source.table);
      const joined =
        source.kind === 'relationship'
          ? printJoin(
              printer.names,
              source.relationship,
              { table: source.from, row: current(parent) },
              { table: source.table, row },
            )
          : null;
      const { joins, sortKeys, isInPart } = printSortKeys(printer.names, order, { row, part });
      return {
        from: sql`${tableName(source.table)} as ${ident(alias)}${joins}`,
        row,
        condition: restrict(printer.names, plan, row, joined),
        sortKeys,
        isInPart,
      };
    },
  };
}

// The routine runs exactly once, whatever reads its rows. With a single reader, a routine that is not volatile is read
// directly: PostgreSQL may then inline an SQL function and use indexes for filter and order. Otherwise a common table
// expression stores the rows.
function printRoutineConnection(
  printer: SqlPrinter,
  plan: RoutineConnectionPlan,
  parent: Row | null,
  frame: Frame | null,
): Sql {
  const { call, table } = plan.source;
  const called = printCall(call, parent);
  const isVolatile = call.routine.volatility === 'volatile';
  if (isVolatile || countScans(plan) > 1) {
    return printHeldConnection(printer, plan, { called, isVolatile, frame });
  }
  const rows: RowSet = {
    table,
    isStored: false,
    ofParent: false,
    scan(order) {
      const alias = printer.names.next('f');
      const row = directRow(alias, table);
      const { joins, sortKeys } = printSortKeys(printer.names, order, { row, part: 'all' });
      const condition = restrict(printer.names, plan, row, null);
      return { from: sql`${called} as ${ident(alias)}${joins}`, row, condition, sortKeys, isInPart: null };
    },
  };
  return sql`(${printSelect(printer, plan, rows, { frame })})`;
}

type RoutineConnectionPlan = ConnectionPlan & { readonly source: Extract<SetSource, { kind: 'routine' }> };

function printHeldConnection(
  printer: SqlPrinter,
  plan: RoutineConnectionPlan,
  { called, isVolatile, frame }: { readonly called: Sql; readonly isVolatile: boolean; readonly frame: Frame | null },
): Sql {
  const { table } = plan.source;
  const held = new SubqueryRow(printer.names.next('s'));
  const rows: RowSet = {
    table,
    isStored: false,
    ofParent: false,
    scan(order) {
      const alias = printer.names.next('t');
      const row: Row = {
        column: (column) => {
          held.column(column);
          return ident(alias, `c${column.number}`);
        },
        whole: () => {
          held.whole();
          return ident(alias, 'r');
        },
      };
      const { joins, sortKeys } = printSortKeys(printer.names, order, { row, part: 'all' });
      const condition = restrict(printer.names, plan, row, null);
      return {
        from: sql`${ident(held.alias)} as ${ident(alias)}${joins}`,
        row,
        condition,
        sortKeys,
        isInPart: null,
      };
    },
  };
  // PostgreSQL evaluates a common table expression only as far as it is read: not at all for `first: 0` or a false
  // filter. A volatile routine must still run.
  const forced = isVolatile
    ? sql`(select pg_catalog.count(*) from ${ident(held.alias)}) as ${ident(printer.names.next('n'))} cross join `
    : sql``;
  const select = printSelect(printer, plan, rows, { frame, before: forced });
  const alias = printer.names.next('f');
  const columns = list(held.selectList(directRow(alias, table)));
  return sql`(with ${ident(held.alias)} as materialized (select ${columns} from ${called} as ${ident(alias)}) ${select})`;
}

function restrict(names: Names, plan: ConnectionPlan, row: Row, joined: Sql | null): Sql | null {
  return conjunction([joined, plan.filter === null ? null : printCondition(names, plan.filter, row)]);
}

interface SelectOptions {
  /** Given: the result is text in this frame, otherwise json. */
  readonly frame: Frame | null;
  /** Precedes the from clause. */
  readonly before?: Sql;
}

function printSelect(printer: SqlPrinter, plan: ConnectionPlan, rows: RowSet, options: SelectOptions): Sql {
  const { frame, before = empty } = options;
  const page = plan.entries.some(isOfPage) ? printPage(printer, plan, rows, frame === null ? 'json' : 'text') : null;
  if (frame !== null) {
    invariant(page !== null, 'a connection that is printed as text has rows');
    const text = printText([frame.before, ...connectionParts(printer, plan, rows, page), frame.after]);
    return sql`select ${text} from ${before}${page.from}`;
  }
  const members = printEntries(
    plan.entries,
    (entry) => page?.members.get(entry) ?? printEntry(printer, plan, entry, rows),
  );
  const object = printObject(printer, members);
  return page === null
    ? sql`select ${object.json} from ${before}${object.from}`
    : sql`select ${object.json} from ${before}${page.from} cross join ${object.from}`;
}

function connectionParts(printer: SqlPrinter, plan: ConnectionPlan, rows: RowSet, page: PrintedPage): TextPart[] {
  return objectPieces(plan.entries, (entry): readonly TextPart[] => {
    const paged = page.members.get(entry);
    if (paged === undefined) return [jsonText(printEntry(printer, plan, entry, rows))];
    return showsRows(entry) ? ['[', paged, ']'] : [paged];
  });
}

/** The rows of a total count: the text after `from`. */
export function printCounted(
  { names }: SqlPrinter,
  { order, distinct }: ConnectionPlan,
  rows: RowSet,
  atMost: LimitPlan | null,
): Sql {
  const { from, condition, sortKeys } = rows.scan(order.slice(0, distinct));
  const all = sql`${from}${where(condition)}`;
  if (distinct > 0) {
    const limit = atMost === null ? empty : sql` limit ${printLimit(atMost)}`;
    return sql`(select distinct ${list(sortKeys)} from ${all}${limit}) as ${ident(names.next('n'))}`;
  }
  return atMost === null ? all : sql`(select from ${all} limit ${printLimit(atMost)}) as ${ident(names.next('n'))}`;
}

/** Total count, aggregates or groups of a connection as an expression. */
export function printEntry(printer: SqlPrinter, plan: ConnectionPlan, entry: ConnectionEntry, rows: RowSet): Sql {
  switch (entry.kind) {
    case 'total_count':
      return sql`(select pg_catalog.count(*) from ${printCounted(printer, plan, rows, entry.atMost)})`;
    case 'aggregate':
      return printAggregate(printer, entry.entries, rows);
    case 'groups':
      return printGroups(printer, entry.groups, rows);
    default:
      throw new Error(`${entry.kind} is part of the page`);
  }
}
