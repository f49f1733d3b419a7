/**
 * A table of many rows: only those in sight are in the page. The keyboard moves through its cells as the grid pattern of
 * ARIA says (https://www.w3.org/WAI/ARIA/apg/patterns/grid/); Enter, F2 or a double click opens a cell.
 */
// biome-ignore-all lint/a11y: the grid pattern keeps the focus on the grid, and a table element cannot have only the rows in sight
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { SortIcon } from './icons.tsx';
import './data-table.css';

/** How rows are ordered by a column. */
export type Direction = 'ascending' | 'descending';

/** A column. */
export interface Column<Row> {
  readonly name: string;
  readonly title: string;
  /** The title is read out and not shown, as of boxes. */
  readonly isTitleHidden?: boolean;
  /** Below the title, in small: its type. */
  readonly hint?: string;
  /** In pixels. */
  readonly width: number;
  /** Takes the width that is left; without one, the last column does. */
  readonly isWide?: boolean;
  /** Numbers stand at the right. */
  readonly isRight?: boolean;
  /** Names the row for screen readers. */
  readonly isRowHeader?: boolean;
  readonly cell: (row: Row) => ReactNode;
  /** The present order; null: not ordered by it. Without the member, nobody can order by it. */
  readonly order?: Direction | null;
}

interface DataTableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** How many rows there are, with those not loaded; null: not known. */
  readonly total?: number | null;
  /** The key of the row that is shown beside the table. */
  readonly chosen?: string | null;
  readonly onOrder?: (column: Column<Row>) => void;
  /** A cell was opened. */
  readonly onOpen?: (row: Row, column: Column<Row>) => void;
  /** A click opens a cell, too: rows that are only read. */
  readonly isOpenedByClick?: boolean;
  /** Other keys on a cell. @returns Whether it did something. */
  readonly onKey?: (event: KeyboardEvent, row: Row, column: Column<Row>) => boolean;
  /** Called when the last rows come into sight; absent if there are no more. */
  readonly onEnd?: () => void;
}

/** Far down, browsers place things on every second pixel only: with an odd height, rows would overlap. */
const rowHeight = 32;
/** Of more rows, a part is there to be scrolled, half of which goes on: Firefox scrolls through 17 million pixels. */
const partRows = 400_000;
/** Rows beyond what is in sight. */
const overscan = 12;
/** More rows are asked for when so many are left below. */
const marginRows = 30;

/** The table. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rows, keyOf, total = rows.length, chosen = null, onOrder, onEnd } = props;
  const id = useId();
  const place = useRef<HTMLDivElement>(null);
  const [first, setFirst] = useState(0);
  if (first > 0 && first >= rows.length) setFirst(0);
  const virtual = useVirtualizer({
    count: Math.max(0, Math.min(rows.length - first, partRows)),
    getScrollElement: () => place.current,
    estimateSize: () => rowHeight,
    // No keys of rows: another function for each state of the rows would make it look at a million of them.
    overscan,
  });
  /** The row to be shown when the part that has it is there; null: those in sight stay in sight. */
  const next = useRef<number | null>(null);
  const { active, onKeyDown, moveTo } = useActiveCell(props, (row) => {
    if (row >= first && row < first + partRows) return virtual.scrollToIndex(row - first);
    next.current = row;
    setFirst(Math.max(0, row - partRows / 2));
  });
  const before = useRef(first);
  useLayoutEffect(() => {
    if (next.current !== null) virtual.scrollToIndex(next.current - first);
    else if (place.current !== null) place.current.scrollTop += (before.current - first) * rowHeight;
    next.current = null;
    before.current = first;
  }, [first, virtual]);
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever other rows come into sight
  useEffect(() => {
    if (rows.length <= partRows || place.current === null) return;
    // The virtual rows hear of a scroll later.
    const { scrollTop, clientHeight } = place.current;
    const [top, bottom] = [scrollTop / rowHeight, (scrollTop + clientHeight) / rowHeight];
    if (bottom > partRows - marginRows && first + partRows < rows.length) setFirst(first + partRows / 2);
    else if (top < marginRows && first > 0) setFirst(Math.max(0, first - partRows / 2));
  }, [last, first, rows.length]);
  const isAtEnd = rows.length > 0 && first + last >= rows.length - marginRows;
  useEffect(() => {
    if (isAtEnd) onEnd?.();
  }, [isAtEnd, onEnd]);
  const wide = columns.findIndex(({ isWide }) => isWide);
  const template = columns
    .map(({ width }, index) =>
      index === (wide === -1 ? columns.length - 1 : wide) ? `minmax(${width}px, 1fr)` : `${width}px`,
    )
    .join(' ');
  const leastWidth = columns.reduce((sum, { width }) => sum + width, 0);
  const cellId = (row: number, column: number) => `${id}-${row}-${column}`;
  return (
    <div
      ref={place}
      className={props.isOpenedByClick ? 'data-table opened-by-click' : 'data-table'}
      role="grid"
      aria-label={label}
      aria-rowcount={total === null ? -1 : total + 1}
      aria-colcount={columns.length}
      aria-activedescendant={rows.length > 0 ? cellId(active.row, active.column) : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
      style={{ '--columns': template, '--least-width': `${leastWidth}px` } as React.CSSProperties}
    >
      <div role="rowgroup" className="data-head">
        <div role="row" aria-rowindex={1}>
          {columns.map((column) => (
            <Head key={column.name} column={column} onOrder={onOrder} />
          ))}
        </div>
      </div>
      <div role="rowgroup" className="data-body" style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index: at, start }) => {
          const index = first + at;
          const row = rows[index]!;
          return (
            <div
              key={index}
              role="row"
              aria-rowindex={index + 2}
              aria-selected={keyOf(row) === chosen}
              style={{ transform: `translateY(${start}px)` }}
            >
              {columns.map((column, number) => (
                <div
                  key={column.name}
                  id={cellId(index, number)}
                  role={column.isRowHeader ? 'rowheader' : 'gridcell'}
                  className={column.isRight ? 'right' : undefined}
                  data-active={index === active.row && number === active.column}
                  onMouseDown={() => moveTo(index, number)}
                  onClick={() => props.isOpenedByClick && props.onOpen?.(row, column)}
                  onDoubleClick={() => props.isOpenedByClick || props.onOpen?.(row, column)}
                >
                  {column.cell(row)}
                </div>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

interface HeadProps<Row> {
  readonly column: Column<Row>;
  readonly onOrder: ((column: Column<Row>) => void) | undefined;
}

function Head<Row>({ column, onOrder }: HeadProps<Row>) {
  const { title, hint, order, isRight = false, isTitleHidden = false } = column;
  const words = (
    <span className={isTitleHidden ? 'visually-hidden' : undefined}>
      {title} {hint !== undefined && <small className="soft">{hint}</small>}
    </span>
  );
  return (
    <div role="columnheader" className={isRight ? 'right' : undefined} aria-sort={order ?? undefined}>
      {order === undefined ? (
        words
      ) : (
        <button type="button" className="quiet" onClick={() => onOrder?.(column)}>
          {words} <SortIcon direction={order} />
        </button>
      )}
    </div>
  );
}

interface Cell {
  readonly row: number;
  readonly column: number;
}

/** The cell where the keyboard is. */
function useActiveCell<Row>(
  { rows, columns, onOpen, onKey }: DataTableProps<Row>,
  onRow: (index: number) => void,
): {
  readonly active: Cell;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly moveTo: (row: number, column: number) => void;
} {
  const [wanted, setWanted] = useState<Cell>({ row: 0, column: 0 });
  const within = (index: number, count: number): number => Math.max(0, Math.min(index, count - 1));
  const active = { row: within(wanted.row, rows.length), column: within(wanted.column, columns.length) };
  const onKeyDown = (event: KeyboardEvent): void => {
    // Keys of a field or a button in the table are its own.
    if (event.target !== event.currentTarget || event.altKey) return;
    const row = rows[active.row];
    const column = columns[active.column];
    if (row === undefined || column === undefined) return;
    if ((event.key === 'Enter' && !event.shiftKey) || event.key === 'F2') onOpen?.(row, column);
    else if (!move(event, active)) {
      if (onKey?.(event, row, column) !== true) return;
    }
    event.preventDefault();
  };
  const move = (event: KeyboardEvent, { row, column }: Cell): boolean => {
    const isFar = event.ctrlKey || event.metaKey;
    const page = Math.max(1, Math.floor(event.currentTarget.clientHeight / rowHeight) - 2);
    const to: Cell | undefined = {
      ArrowDown: { row: row + 1, column },
      ArrowUp: { row: row - 1, column },
      ArrowRight: { row, column: column + 1 },
      ArrowLeft: { row, column: column - 1 },
      PageDown: { row: row + page, column },
      PageUp: { row: row - page, column },
      Home: { row: isFar ? 0 : row, column: 0 },
      End: { row: isFar ? rows.length - 1 : row, column: columns.length - 1 },
    }[event.key];
    if (to === undefined) return false;
    const next = { row: within(to.row, rows.length), column: within(to.column, columns.length) };
    setWanted(next);
    onRow(next.row);
    const cells = event.currentTarget.querySelectorAll('[role="columnheader"]');
    cells[next.column]?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    return true;
  };
  return { active, onKeyDown, moveTo: (row, column) => setWanted({ row, column }) };
}
