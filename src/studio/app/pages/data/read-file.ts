/** Rows of a file, CSV or JSON, as objects of an insert. */
import type { RoleTable, TableColumn } from '../../shared/role-schema.ts';
import { typeName } from './cell.tsx';
import { faultOf, toValue } from './field-text.ts';
import type { Row } from './row-key.ts';

/** What a file has. */
export interface FileRows {
  readonly objects: readonly Row[];
  /** Names in the file that the role may not insert: left out. */
  readonly ignored: readonly string[];
  /** What keeps the file from being inserted, by row from 1. */
  readonly faults: readonly { readonly row: number; readonly message: string }[];
}

/** @throws SyntaxError for JSON that is none */
export function readFileRows(table: RoleTable, name: string, text: string): FileRows {
  const rows = name.toLowerCase().endsWith('.json') ? readJsonRows(text) : readCsvRows(text);
  const columns = new Map(table.columns.filter(({ insert }) => insert !== null).map((column) => [column.name, column]));
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const faults: { readonly row: number; readonly message: string }[] = [];
  const objects = rows.map((row, index) =>
    Object.fromEntries(
      Object.entries(row).flatMap(([key, value]) => {
        const column = columns.get(key);
        // An empty cell is left to the default.
        if (column === undefined || value === undefined) return [];
        const fault = typeof value === 'string' ? faultOfText(value, column, table) : null;
        if (fault !== null) faults.push({ row: index + 1, message: `${key}: ${fault}` });
        return fault === null ? [[key, toInput(value, column, table)]] : [];
      }),
    ),
  );
  return { objects, ignored: names.filter((key) => !columns.has(key)), faults };
}

/** Texts of a JSON file may be values of JSON columns already. */
function faultOfText(value: string, column: TableColumn, { jsonValues }: RoleTable): string | null {
  return typeName(column.type) === 'JSON' && !jsonValues ? null : faultOf(value, column.type);
}

function toInput(value: unknown, column: TableColumn, { jsonValues }: RoleTable): unknown {
  if (typeof value === 'string') return toValue(value, column, jsonValues);
  return typeName(column.type) === 'JSON' && !jsonValues && value !== null ? JSON.stringify(value) : value;
}

function readJsonRows(text: string): readonly Row[] {
  const value: unknown = JSON.parse(text);
  if (!Array.isArray(value) || value.some((row) => typeof row !== 'object' || row === null))
    throw new SyntaxError('The file must have a list of objects.');
  return value as readonly Row[];
}

/** RFC 4180: an empty cell is undefined, an empty text stands in quotes. */
function readCsvRows(text: string): readonly Row[] {
  const lines: (string | undefined)[][] = [[]];
  const cell = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n|\n|\r|$)/y;
  for (let at = 0; at < text.length; at = cell.lastIndex) {
    cell.lastIndex = at;
    const found = cell.exec(text);
    if (found === null) throw new SyntaxError(`A quote in line ${lines.length} is not closed.`);
    const [, raw = '', end] = found;
    lines
      .at(-1)!
      .push(raw === '' ? undefined : unguard(raw.startsWith('"') ? raw.slice(1, -1).replaceAll('""', '"') : raw));
    if (end !== ',' && end !== '') lines.push([]);
  }
  const [head = [], ...rows] = lines.filter((line) => line.some((value) => value !== undefined));
  return rows.map((row) => Object.fromEntries(head.map((name, index) => [name ?? '', row[index]])));
}

/** Without the mark by which an export keeps spreadsheets from running a text. */
function unguard(text: string): string {
  return /^''?[=+@\t\r\n＝＋－＠-]/.test(text) ? text.slice(1) : text;
}
