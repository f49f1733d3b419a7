/** Rows as text: CSV that spreadsheets open, and JSON. */
import { runAs } from '../../shared/graphql.ts';
import type { RoleTable } from '../../shared/role-schema.ts';
import { pageOperation, type View } from './read-operations.ts';
import type { Row } from './row-key.ts';
import type { RowPage } from './use-rows.ts';
import type { Target } from './write-operations.ts';

/** An export has no more rows than this: the browser keeps it in memory. */
export const exportLimit = 100_000;

/** Formats of an export. */
export type ExportFormat = 'csv' | 'json';

/** Reads the rows of a view, page by page, up to the limit. @param onProgress Called with the number so far. */
export async function readAllRows(
  { table, caller }: Target,
  view: View,
  onProgress: (count: number) => void,
  signal: AbortSignal,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (let after: string | null = null; rows.length < exportLimit; ) {
    const page: Row = { first: Math.min(1000, table.maxRows), ...(after !== null && { after }) };
    const data: Readonly<Record<string, RowPage>> = await runAs(caller, pageOperation(table, view, page), signal);
    const { edges, pageInfo } = data[table.collection!]!;
    for (const { node } of edges) rows.push(node);
    onProgress(rows.length);
    if (!pageInfo.hasNextPage) return rows;
    after = pageInfo.endCursor;
  }
  return rows.slice(0, exportLimit);
}

/** The rows as a text of the format, without the global ID. */
export function toText(table: RoleTable, rows: readonly Row[], format: ExportFormat): string {
  const names = table.columns.filter(({ isRead }) => isRead).map(({ name }) => name);
  if (format === 'json')
    return `${JSON.stringify(
      rows.map((row) => pick(row, names)),
      null,
      2,
    )}\n`;
  const lines = rows.map((row) => names.map((name) => csvCell(row[name])).join(','));
  return [names.map(csvCell).join(','), ...lines, ''].join('\r\n');
}

/** A row as JSON. */
export function rowJson(table: RoleTable, row: Row): string {
  return JSON.stringify(
    pick(
      row,
      table.columns.filter(({ isRead }) => isRead).map(({ name }) => name),
    ),
    null,
    2,
  );
}

function pick(row: Row, names: readonly string[]): Row {
  return Object.fromEntries(names.map((name) => [name, row[name] ?? null]));
}

/** Whether a spreadsheet would run the text, in any language; of what begins with a minus, a number alone is none. Or has our mark. */
function isFormula(text: string): boolean {
  return /^'?[=+@\t\r\n＝＋－＠]|^'-/.test(text) || (text.startsWith('-') && Number.isNaN(Number(text)));
}

/** RFC 4180; null is an empty cell, and an empty text one in quotes. */
function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = typeof value === 'string' && isFormula(text) ? `'${text}` : text;
  return text === '' || /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
