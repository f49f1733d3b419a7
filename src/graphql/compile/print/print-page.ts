/**
 * Prints the page of a connection: one from item with a single row, whose columns are the edges and the page info.
 *
 * Without page info, the page is read with its limit. With it, one more row is read, rows are numbered in scan order,
 * and the flags come from counts and from the first row of the whole set.
 */

import { objectPieces } from '../answer/row-layout.ts';
import { hasLongCursors, printCursor } from '../cursor/print-cursor.ts';
import { runsVolatile } from '../plan/inspect-plan.ts';
import type { ConnectionEntry, ConnectionPlan, ObjectPlan, PageFact } from '../plan/plan.ts';
import { columnOf } from '../plan/plan-order.ts';
import { conjunction, where } from '../sql/condition.ts';
import {
  isTypename,
  type Member,
  type PrintedObject,
  printEntries,
  printObject,
  type SizedValue,
} from '../sql/object.ts';
import { printMembers, type SqlPrinter } from '../sql/printer.ts';
import { list, type Row, type RowSet, SubqueryRow } from '../sql/row.ts';
import { empty, ident, join, type Sql, sql } from '../sql/sql.ts';
import { printOtherKey } from './print-order.ts';
import { printFirst, printLimit, printScan } from './print-scan.ts';
import { printText, type TextPart } from './print-text.ts';

/** The form of a connection's members: JSON values or JSON text. */
type Form = 'json' | 'text';

/** A page as part of a from clause, and its contribution to the connection object. */
export interface PrintedPage {
  readonly from: Sql;
  /** The connection members that come from the page. */
  readonly members: ReadonlyMap<ConnectionEntry, Sql>;
}

/** Prints the page; the plan selects edges or page info. */
export function printPage(printer: SqlPrinter, plan: ConnectionPlan, rows: RowSet, form: Form): PrintedPage {
  const page = new SubqueryRow(printer.names.next('p'));
  const name = printer.names.next('g');
  const columns: Sql[] = [];
  const context: PageContext = {
    printer,
    plan,
    rows,
    page,
    counted: readsOneMore(plan),
    laterals: [],
    aggregate(value) {
      columns.push(sql`${value} as ${ident(`a${columns.length + 1}`)}`);
      return ident(name, `a${columns.length}`);
    },
  };
  const members = new Map<ConnectionEntry, Sql>();
  const objects: Sql[] = [];
  for (const entry of plan.entries) {
    if (entry.kind === 'edges' || entry.kind === 'nodes') {
      const edges = form === 'json' ? printEdges(context, entry) : printEdgesText(context, entry);
      members.set(entry, context.aggregate(edges));
    }
    if (entry.kind === 'page_info') {
      const object = printPageInfo(context, entry);
      objects.push(sql` cross join ${object.from}`);
      members.set(entry, form === 'json' ? object.value : sql`${object.json}::pg_catalog.text`);
    }
  }
  // Page info with only `__typename` has no aggregate, and a select without aggregates would return a row per edge.
  if (columns.length === 0) context.aggregate(sql`pg_catalog.count(*)`);
  const scan = printScan(printer.names, plan, context);
  const from =
    context.counted || plan.page.backward ? printNumbered(context, scan) : sql`(${scan}) as ${ident(page.alias)}`;
  const aggregated = sql`select ${list(columns)} from ${from}${join(context.laterals, empty)}`;
  return { from: sql`lateral (${aggregated}) as ${ident(name)}${join(objects, empty)}`, members };
}

interface PageContext {
  readonly printer: SqlPrinter;
  readonly plan: ConnectionPlan;
  readonly rows: RowSet;
  readonly page: SubqueryRow;
  /** One more row than the page is read, and rows are counted. */
  readonly counted: boolean;
  /** From items for the aggregates, joined to the page. */
  readonly laterals: Sql[];
  /** Adds an aggregate over the page and returns the reference to its value. */
  aggregate(value: Sql): Sql;
}

/** If page info is selected, the page is read with one more row. */
export function readsOneMore({ entries }: ConnectionPlan): boolean {
  return entries.some((entry) => entry.kind === 'page_info' && !entry.entries.every(isTypename));
}

function printNumbered(context: PageContext, scan: Sql): Sql {
  const alias = ident(context.page.alias);
  const inner = context.printer.names.next('q');
  const numbers = sql`pg_catalog.row_number() over () as "n", pg_catalog.count(*) over () as "m"`;
  return sql`(select ${list([...context.page.passList(inner), numbers])} from (${scan}) as ${ident(inner)}) as ${alias}`;
}

type EdgesEntry = Extract<ConnectionEntry, { kind: 'edges' | 'nodes' }>;

function printEdges(context: PageContext, entry: EdgesEntry): Sql {
  const kept = keptEdges(context);
  const aggregated = sql`pg_catalog.json_agg(${printEdge(context, entry, kept).value}${edgeOrder(context)})${filter(kept)}`;
  return sql`coalesce(${aggregated}, '[]'::pg_catalog.json)`;
}

// The list's elements, without brackets.
function printEdgesText(context: PageContext, entry: EdgesEntry): Sql {
  const kept = keptEdges(context);
  const hasLong =
    entry.kind === 'edges' && entry.entries.some(({ kind }) => kind === 'cursor') && hasLongCursors(context.plan.order);
  // Only an object is bounded.
  const edge =
    hasLong || entry.kind === 'nodes'
      ? sql`${printEdge(context, entry, kept).json}::pg_catalog.text`
      : printText(
          objectPieces(entry.entries, (part): readonly TextPart[] =>
            part.kind === 'cursor'
              ? // Base64 needs no escapes.
                ['"', pageCursor(context), '"']
              : [sql`${printNode(context, part.object, kept).json}::pg_catalog.text`],
          ),
        );
  return sql`coalesce(pg_catalog.string_agg(${edge}, ','${edgeOrder(context)})${filter(kept)}, '')`;
}

// Without cursors, an edge is the row itself.
function printEdge(context: PageContext, entry: EdgesEntry, kept: Sql | null): PrintedObject {
  if (entry.kind === 'nodes') return printNode(context, entry.object, kept);
  const { printer } = context;
  const members = printEntries(entry.entries, (edge) =>
    edge.kind === 'cursor' ? longCursor(context, pageCursor(context)) : printNode(context, edge.object, kept).value,
  );
  return printForKept(context, members, printer.longObjects === 'end' ? null : kept);
}

function longCursor({ plan }: PageContext, value: Sql): Sql | SizedValue {
  return hasLongCursors(plan.order) ? { value, of: 'text' } : value;
}

function pageCursor({ page, plan }: PageContext): Sql {
  return printCursor(plan.order, page.sortKeys(plan.order), plan.page.digest);
}

function keptEdges(context: PageContext): Sql | null {
  return conjunction([context.counted ? inPage(context) : null, firstKeyPresent(context)]);
}

function edgeOrder({ plan, page }: PageContext): Sql {
  return plan.page.backward ? sql` order by ${ident(page.alias, 'n')} desc` : empty;
}

function filter(kept: Sql | null): Sql {
  return kept === null ? empty : sql` filter (where ${kept})`;
}

// For rows that are read but are not edges, volatile routines must not run, and no bytes count.
function printNode(context: PageContext, node: ObjectPlan, kept: Sql | null): PrintedObject {
  const { printer, page } = context;
  const isGuarded = printer.longObjects !== 'end' || runsVolatile(node);
  return printForKept(context, printMembers(printer, node, page), isGuarded ? kept : null);
}

function printForKept({ printer, laterals }: PageContext, members: readonly Member[], kept: Sql | null): PrintedObject {
  const object = printObject(printer, members, kept === null ? empty : where(kept));
  laterals.push(kept === null ? sql` cross join ${object.from}` : sql` left join ${object.from} on true`);
  return object;
}

// Rows without a first key value count for the page but are not edges.
function firstKeyPresent(context: PageContext): Sql | null {
  const { table } = context.rows;
  const first = columnOf(table, table.primaryKey[0]!);
  // A routine may return rows that its table could not hold.
  const isCertain = first.notNull && context.plan.source.kind !== 'routine';
  return isCertain ? null : sql`${context.page.column(first)} is not null`;
}

function inPage(context: PageContext): Sql {
  return sql`${ident(context.page.alias, 'n')} operator(pg_catalog.<=) ${printLimit(context.plan.page.limit)}`;
}

function printPageInfo(context: PageContext, entry: Extract<ConnectionEntry, { kind: 'page_info' }>): PrintedObject {
  const { backward, cursor, offset } = context.plan.page;
  const members = printEntries(entry.entries, ({ kind }) => {
    const isBeforePage = kind === (backward ? 'has_next_page' : 'has_previous_page');
    // Nothing precedes a page that starts with the first row; a constant is no aggregate.
    if (isBeforePage && cursor === null && offset === null) return sql`false`;
    const fact = context.aggregate(printFact(context, kind));
    return kind === 'start_cursor' || kind === 'end_cursor' ? longCursor(context, fact) : fact;
  });
  return printObject(context.printer, members);
}

function printFact(context: PageContext, kind: PageFact): Sql {
  const { backward } = context.plan.page;
  const number = ident(context.page.alias, 'n');
  const limit = printLimit(context.plan.page.limit);
  const last = sql`least(${ident(context.page.alias, 'm')}, ${limit})`;
  switch (kind) {
    case 'has_next_page':
      return backward ? printBeyondPage(context) : sql`(pg_catalog.count(*) operator(pg_catalog.>) ${limit})`;
    case 'has_previous_page':
      return backward ? sql`(pg_catalog.count(*) operator(pg_catalog.>) ${limit})` : printBeyondPage(context);
    case 'start_cursor':
    case 'end_cursor': {
      const wantsFirst = (kind === 'start_cursor') !== backward;
      const position = wantsFirst ? sql`1` : last;
      const kept = conjunction([sql`${number} operator(pg_catalog.=) ${position}`, inPage(context)])!;
      return sql`pg_catalog.max(${pageCursor(context)}) filter (where ${kept})`;
    }
  }
}

// Whether the page is not empty and lacks the first row of the whole set, in scan order.
function printBeyondPage(context: PageContext): Sql {
  const { printer, plan, page, rows } = context;
  const other = (row: Row) => printOtherKey(rows, page, (key) => key(row));
  const first = sql`(select ${printFirst(printer.names, plan, rows, other)})`;
  const kept = conjunction([sql`${ident(page.alias, 'n')} operator(pg_catalog.=) 1`, inPage(context)])!;
  return sql`coalesce(pg_catalog.bool_or(${first}) filter (where ${kept}), false)`;
}
