/** A row beside the table: its values in fields, saved only where nobody changed them meanwhile; or a new row. */
import { useEffect, useRef, useState } from 'react';
import { CopyButton } from '../../components/copy-button.tsx';
import { CloseIcon } from '../../components/icons.tsx';
import { Waiting } from '../../components/problem.tsx';
import { say } from '../../components/toasts.tsx';
import { useAnswer } from '../../shared/requests.ts';
import type { RoleSchema, RoleTable } from '../../shared/role-schema.ts';
import { goTo } from '../../shared/router.ts';
import { type CellOpening, type DataPlace, newRow, placeOf } from './data-place.ts';
import { rowJson } from './export-rows.ts';
import { RowForm } from './row-form.tsx';
import { keyOf, type Row } from './row-key.ts';
import type { Rows } from './use-rows.ts';
import { readRow } from './write-operations.ts';

interface RowPanelProps {
  readonly schema: RoleSchema;
  readonly table: RoleTable;
  readonly place: DataPlace;
  readonly rows: Rows;
  /** The cell that was opened; null: none, or that of another row. */
  readonly opening: CellOpening | null;
  readonly onDelete: (row: Row) => void;
}

/** The panel; Escape and its button close it. */
export function RowPanel(props: RowPanelProps) {
  const { table, place, opening } = props;
  const isNew = place.row === newRow;
  const panel = useRef<HTMLElement>(null);
  const [inserted, setInserted] = useState<Inserted | null>(null);
  const close = (isTaken = false): void => {
    const isClosed = goTo(placeOf({ ...place, row: null }), { asks: !isTaken });
    if (isClosed) document.querySelector<HTMLElement>('[role="grid"]')?.focus();
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: for each row that is opened
  useEffect(() => {
    // A row without a field to begin with, or that was inserted just now: Escape must have a place.
    if (document.activeElement === document.body || opening?.column === '') panel.current?.focus();
  }, [place.row, opening]);
  return (
    <aside
      ref={panel}
      tabIndex={-1}
      className="row-panel"
      aria-label={isNew ? `New ${table.name}` : `${table.name} ${place.row}`}
      onKeyDown={(event) => event.key === 'Escape' && !event.defaultPrevented && close()}
    >
      <header className="spread">
        <h3>{isNew ? `New ${table.name}` : `${table.name} ${place.row}`}</h3>
        <button
          type="button"
          className="quiet icon-button"
          aria-label="Close the row"
          title="Close"
          onClick={() => close()}
        >
          <CloseIcon />
        </button>
      </header>
      {isNew ? (
        <NewRow {...props} onLeave={close} onInserted={setInserted} />
      ) : (
        <OpenRow
          key={`${JSON.stringify(place.caller)} ${place.row}`}
          {...props}
          onLeave={close}
          made={inserted?.row === place.row ? inserted.made : []}
        />
      )}
    </aside>
  );
}

interface OpenPanelProps extends RowPanelProps {
  readonly onLeave: (isTaken: boolean) => void;
}

/** A row that was inserted just now, and its relationships with rows that were inserted with it. */
interface Inserted {
  readonly row: string | null;
  readonly made: readonly string[];
}

interface NewRowProps extends OpenPanelProps {
  readonly onInserted: (inserted: Inserted) => void;
}

function NewRow({ schema, table, place, rows, onLeave, onInserted }: NewRowProps) {
  const [opening] = useState(() => ({
    column: table.columns.find(({ insert }) => insert !== null)?.name ?? '',
    typed: null,
  }));
  const inserted = (row: Row | null, related: number, made: readonly string[]): void => {
    onInserted({ row: row && keyOf(table, row), made });
    if (row !== null) rows.insert([row]);
    const others = related === 0 ? '' : ` with ${related} related ${related === 1 ? 'row' : 'rows'}`;
    say(
      row === null
        ? `Inserted${others}. ${table.role} does not see the row.`
        : `Inserted ${table.name} ${keyOf(table, row)}${others}.`,
    );
    goTo(placeOf({ ...place, row: row && keyOf(table, row) }), { replace: true, asks: false });
  };
  const target = { table, caller: place.caller };
  return <RowForm {...{ schema, place, target, opening, onLeave }} before={null} onSaved={inserted} />;
}

interface OpenRowProps extends OpenPanelProps {
  readonly made: readonly string[];
}

function OpenRow({ schema, table, place, rows, opening, onDelete, onLeave, made }: OpenRowProps) {
  const key = place.row!;
  const listed = rows.rows.find((row) => keyOf(table, row) === key) ?? null;
  // It came by a link, or is further down than the rows that are loaded.
  const [isAsked] = useState(listed === null);
  const { value, problem } = useAnswer(
    isAsked ? `${JSON.stringify(place.caller)} ${table.role} ${table.name} ${key}` : null,
    async (signal) => ({
      row: await readRow({ table, caller: place.caller }, key, signal),
    }),
  );
  const [saved, setSaved] = useState<Row | null>(null);
  // While the table is read again, the row stays: somebody may be editing it.
  const last = useRef<Row | null>(null);
  const row = saved ?? listed ?? value?.row ?? last.current;
  last.current = row;
  const rowKey = row && keyOf(table, row);
  // biome-ignore lint/correctness/useExhaustiveDependencies: when a save has changed the key
  useEffect(() => {
    if (rowKey !== null && rowKey !== key) goTo(placeOf({ ...place, row: rowKey }), { replace: true, asks: false });
  }, [rowKey]);
  if (row === null) {
    if (value === null || problem !== null) return <Waiting what="row" problem={problem} />;
    return (
      <div className="empty" role="alert">
        <p>There is no such row, or {table.role} does not see it.</p>
      </div>
    );
  }
  return (
    <RowForm
      {...{ schema, place, opening, onLeave, made }}
      target={{ table, caller: place.caller }}
      before={row}
      onSaved={(next) => {
        if (next !== null) rows.replace(key, next);
        setSaved(next);
      }}
      onDelete={table.delete === null ? null : () => onDelete(row)}
    >
      <div>
        <CopyButton text={rowJson(table, row)} what="the row as JSON" />
      </div>
    </RowForm>
  );
}
