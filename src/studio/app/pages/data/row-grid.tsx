/** The rows of a table as a grid. */
import { type KeyboardEvent, useMemo } from 'react';
import { type Column, DataTable } from '../../components/data-table.tsx';
import type { RoleSchema, RoleTable } from '../../shared/role-schema.ts';
import { goTo } from '../../shared/router.ts';
import { copyText } from '../../shared/take-along.ts';
import { Cell, isNumber, textOf, typeName, widthOf } from './cell.tsx';
import { type CellOpening, type DataPlace, type Order, placeOf } from './data-place.ts';
import { linkOf } from './links.ts';
import { keyOf, type Row } from './row-key.ts';
import type { Rows } from './use-rows.ts';

interface RowGridProps {
  readonly schema: RoleSchema;
  readonly table: RoleTable;
  readonly place: DataPlace;
  readonly rows: Rows;
  /** Rows chosen by their boxes, by key. */
  readonly chosen: ReadonlyMap<string, Row>;
  readonly onChoose: (chosen: ReadonlyMap<string, Row>) => void;
  readonly onOpen: (key: string, cell: CellOpening) => void;
  /** Null: the caller may not insert. */
  readonly onNew: (() => void) | null;
  readonly onDelete: (row: Row) => void;
  /** Closes the row that is open; null: none is. */
  readonly onClose: (() => void) | null;
}

/** The grid. */
export function RowGrid(props: RowGridProps) {
  const { schema, table, place, rows: all, chosen, onChoose, onOpen, onNew, onDelete, onClose } = props;
  const { rows, total, isDone, loadMore } = all;
  const { order } = place;
  const toggle = (row: Row): void => {
    const key = keyOf(table, row);
    const others = new Map(chosen);
    if (!others.delete(key)) others.set(key, row);
    onChoose(others);
  };
  const boxes: Column<Row> = {
    name: '',
    title: 'Choice',
    isTitleHidden: true,
    width: 40,
    cell: (row) => (
      <input
        type="checkbox"
        tabIndex={-1}
        aria-label={`Choose ${keyOf(table, row)}`}
        checked={chosen.has(keyOf(table, row))}
        onChange={() => toggle(row)}
      />
    ),
  };
  const onKey = (event: KeyboardEvent, row: Row, column: Column<Row>): boolean => {
    const isPlain = !event.ctrlKey && !event.metaKey;
    const { update = null } = table.columns.find(({ name }) => name === column.name) ?? {};
    const isWritten = table.update !== null && update !== null;
    if (event.key === ' ' && isPlain) toggle(row);
    else if (event.key === 'Enter' && onNew !== null) onNew();
    else if (event.key === 'Escape' && onClose !== null) onClose();
    else if (event.key === 'Delete') onDelete(row);
    else if (event.key.length === 1 && isPlain && isWritten)
      onOpen(keyOf(table, row), { column: column.name, typed: event.key });
    else if (event.key === 'c' && !isPlain) void copyText(textOf(row[column.name] ?? null));
    else return false;
    return true;
  };
  const columns = useMemo<readonly Column<Row>[]>(
    () =>
      table.columns
        .filter(({ isRead }) => isRead)
        .map((column) => ({
          name: column.name,
          title: column.name,
          hint: column.type.startsWith('[') ? `${typeName(column.type)}[]` : typeName(column.type),
          width: widthOf(table, column),
          isRight: isNumber(column.type),
          isRowHeader: column.isKey,
          ...(column.isOrdered && { order: order?.column === column.name ? order.direction : null }),
          cell: (row) => (
            <Cell
              table={table}
              column={column}
              value={row[column.name]}
              link={linkOf(table, schema.tables, row, column.name, place)}
            />
          ),
        })),
    [table, schema, place, order],
  );
  // A new function for each page that came, so that the table asks again while its end is in sight.
  // biome-ignore lint/correctness/useExhaustiveDependencies: as said
  const onEnd = useMemo(() => (isDone ? undefined : () => loadMore()), [isDone, loadMore, rows]);
  return (
    <DataTable
      label={`Rows of ${table.name}`}
      columns={table.delete === null ? columns : [boxes, ...columns]}
      rows={rows}
      keyOf={(row) => keyOf(table, row)}
      total={isDone ? rows.length : total}
      chosen={place.row}
      onOrder={({ name }) => goTo(placeOf({ ...place, order: nextOrder(order, name) }))}
      onOpen={(row, { name }) => onOpen(keyOf(table, row), { column: name, typed: null })}
      onKey={onKey}
      {...(onEnd && { onEnd })}
    />
  );
}

/** Ascending, then descending, then as the table is. */
function nextOrder(order: Order | null, column: string): Order | null {
  if (order?.column !== column) return { column, direction: 'ascending' };
  return order.direction === 'ascending' ? { column, direction: 'descending' } : null;
}
