/** A value in a cell, by its type. */
import type { ReactNode } from 'react';
import { FollowIcon } from '../../components/icons.tsx';
import { Link } from '../../components/link.tsx';
import { Moment } from '../../components/moment.tsx';
import type { RoleTable, TableColumn } from '../../shared/role-schema.ts';

/** Longer texts are cut: a cell shows a line. */
const shownLength = 240;
/** Elements of a list that a cell shows. */
const shownElements = 8;

/** Name of the type without marks: `Int` of `[Int]!`. */
export function typeName(type: string): string {
  return type.replace(/[[\]!]/g, '');
}

/** Whether values are numbers, which stand at the right. */
export function isNumber(type: string): boolean {
  return /^(Int|Float|BigInt|BigFloat)!?$/.test(type);
}

/** The values of an enum; null for other types. */
export function valuesOf({ enums }: RoleTable, type: string): readonly string[] | null {
  return enums.find(({ name }) => name === typeName(type))?.values ?? null;
}

/** Width of a column, in pixels: enough for its name, and for usual values. */
export function widthOf(table: RoleTable, { name, type }: TableColumn): number {
  const widths: Readonly<Record<string, number>> = {
    Boolean: 96,
    Date: 130,
    Datetime: 216,
    Time: 110,
    UUID: 310,
    String: 220,
    JSON: 260,
  };
  const usual = isNumber(type) || valuesOf(table, type) !== null ? 120 : (widths[typeName(type)] ?? 180);
  return Math.max(type.startsWith('[') ? 220 : usual, 66 + (name.length + typeName(type).length) * 7);
}

/** Where a cell leads to. */
export interface CellLink {
  readonly to: string;
  /** `Category 7`. */
  readonly title: string;
}

interface CellProps {
  readonly table: RoleTable;
  readonly column: TableColumn;
  readonly value: unknown;
  readonly link?: CellLink | null;
}

/** The value. */
export function Cell({ table, column, value, link = null }: CellProps) {
  if (value === null || value === undefined) return <span className="null">null</span>;
  const shown = show(table, column.type, value);
  if (link === null) return shown;
  return (
    <>
      {shown}{' '}
      <Link className="cell-link" to={link.to} aria-label={`Open ${link.title}`} title={`Open ${link.title}`}>
        <FollowIcon />
      </Link>
    </>
  );
}

function show(table: RoleTable, type: string, value: unknown): ReactNode {
  if (Array.isArray(value) && type.startsWith('[')) {
    if (value.length === 0) return <span className="null">empty</span>;
    return value.slice(0, shownElements).map((element, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: elements have no other key
      <span key={index} className="badge">
        {element === null ? 'null' : cut(textOf(element))}
      </span>
    ));
  }
  if (valuesOf(table, type) !== null) return <span className="badge">{String(value)}</span>;
  if (typeName(type) === 'Datetime') return <Moment at={String(value)} />;
  if (typeName(type) === 'Date') return <Moment at={String(value)} isDay />;
  if (typeName(type) === 'JSON') return <code>{cut(textOf(value))}</code>;
  if (value === '') return <span className="null">empty text</span>;
  return cut(textOf(value));
}

/** A value as text: JSON where it is none. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A row in a line; numbers and the like with the names of their columns. @param without Columns that are left out. */
export function rowText(
  { columns }: RoleTable,
  row: Readonly<Record<string, unknown>>,
  without: readonly string[],
): string {
  const shown = columns.filter(({ name, isRead }) => isRead && !without.includes(name));
  const parts = shown.flatMap(({ name, type }) => {
    const value = row[name];
    if (value === null || value === '') return [];
    return typeName(type) === 'String' ? textOf(value) : `${name} ${textOf(value)}`;
  });
  const text = parts.slice(0, 5).join(' · ');
  return text.length > 80 ? `${text.slice(0, 80)} …` : text;
}

function cut(text: string): string {
  return text.length > shownLength ? `${text.slice(0, shownLength)} …` : text;
}
