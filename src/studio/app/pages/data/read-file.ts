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
  /** Where each object stands: `Line 3`. */
  readonly places: readonly string[];
  /** What keeps the file from being inserted. */
  readonly faults: readonly FileFault[];
}

/** What is wrong with a row, and where it stands. */
export interface FileFault {
  readonly place: string;
  readonly message: string;
}

/** The rows of a file as they stand there, and what is wrong with them whatever the table. */
interface ReadRows {
  readonly rows: readonly Row[];
  readonly places: readonly string[];
  /** By row; null: nothing. */
  readonly faults: readonly (string | null)[];
}

const shownLength = 40;

/** @throws SyntaxError for JSON that is none, and a quote that is not closed */
export function readFileRows(table: RoleTable, name: string, text: string): FileRows {
  const { rows, places, faults: known } = name.toLowerCase().endsWith('.json') ? readJsonRows(text) : readCsvRows(text);
  const inserted = table.columns.filter(({ insert }) => insert !== null);
  // A file of a dump has the names of SQL; where one is also another column's name in the API, that one counts.
  const columns = new Map([
    ...inserted.map((column) => [column.column, column] as const),
    ...inserted.map((column) => [column.name, column] as const),
  ]);
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const faults: FileFault[] = [];
  const objects = rows.map((row, index) => {
    const place = places[index]!;
    const fault = known[index] ?? null;
    if (fault !== null) faults.push({ place, message: fault });
    return Object.fromEntries(
      Object.entries(row).flatMap(([key, value]) => {
        const column = columns.get(key);
        // An empty cell is left to the default.
        if (column === undefined || value === undefined) return [];
        const wrong = typeof value === 'string' ? faultOfText(value, column, table) : null;
        if (wrong === null) return [[column.name, toInput(value, column, table)]];
        const shown = `${value}`.length > shownLength ? `${`${value}`.slice(0, shownLength)}…` : `${value}`;
        faults.push({ place, message: `${key} is “${shown}”. ${wrong}` });
        return [];
      }),
    );
  });
  return { objects, ignored: names.filter((key) => !columns.has(key)), places, faults };
}

/** Texts of a JSON file may be values of JSON columns already. */
function faultOfText(value: string, column: TableColumn, { jsonValues }: RoleTable): string | null {
  return typeName(column.type) === 'JSON' && !jsonValues ? null : faultOf(value, column.type);
}

function toInput(value: unknown, column: TableColumn, { jsonValues }: RoleTable): unknown {
  if (typeof value === 'string') return toValue(value, column, jsonValues);
  return typeName(column.type) === 'JSON' && !jsonValues && value !== null ? JSON.stringify(value) : value;
}

function readJsonRows(text: string): ReadRows {
  const value: unknown = JSON.parse(text);
  if (!Array.isArray(value) || value.some((row) => typeof row !== 'object' || row === null))
    throw new SyntaxError('The file must have a list of objects.');
  return { rows: value as readonly Row[], places: value.map((_, index) => `Object ${index + 1}`), faults: [] };
}

interface CsvLine {
  /** In the file, from 1. */
  readonly line: number;
  readonly cells: (string | undefined)[];
}

/** RFC 4180: an empty cell is undefined, an empty text stands in quotes. */
function readCsvRows(text: string): ReadRows {
  const lines: CsvLine[] = [{ line: 1, cells: [] }];
  const cell = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n|\n|\r|$)/y;
  let line = 1;
  for (let at = 0; at < text.length; at = cell.lastIndex) {
    cell.lastIndex = at;
    const found = cell.exec(text);
    if (found === null)
      throw new SyntaxError(`Line ${line}: a quote is not closed, or stands within a text without quotes.`);
    const [whole, raw = '', end] = found;
    const value = raw.startsWith('"') ? raw.slice(1, -1).replaceAll('""', '"') : raw;
    lines.at(-1)!.cells.push(raw === '' ? undefined : unguard(value));
    line += whole.split(/\r\n|\n|\r/).length - 1;
    if (end === ',' && cell.lastIndex === text.length) lines.at(-1)!.cells.push(undefined);
    if (end !== ',' && end !== '') lines.push({ line, cells: [] });
  }
  const [head, ...rest] = lines.filter(({ cells }) => cells.some((value) => value !== undefined));
  const names = (head?.cells ?? []).map((name) => name ?? '');
  const places = rest.map((row) => `Line ${row.line}`);
  const faults = rest.map(({ cells }) =>
    cells.length === names.length ? null : `${cells.length} cells, but the header row has ${names.length}.`,
  );
  const rows = rest.map(({ cells }) => Object.fromEntries(names.map((name, index) => [name, cells[index]])));
  return { rows, places, faults };
}

/** Without the mark by which an export keeps spreadsheets from running a text. */
function unguard(text: string): string {
  return /^''?[=+@\t\r\n＝＋－＠-]/.test(text) ? text.slice(1) : text;
}
