/** A row beside the table: its values in fields, saved only where nobody changed them meanwhile; or a new row. */
import { useEffect, useRef, useState } from 'react';
import { CopyButton } from '../../components/copy-button.tsx';
import { CloseIcon } from '../../components/icons.tsx';
import { Link } from '../../components/link.tsx';
import { Waiting } from '../../components/problem.tsx';
import { say } from '../../components/toasts.tsx';
import { useAnswer } from '../../shared/requests.ts';
import type { RoleSchema, RoleTable } from '../../shared/role-schema.ts';
import { goTo } from '../../shared/router.ts';
import { type DataPlace, newRow, placeOf } from './data-place.ts';
import { rowJson } from './export-rows.ts';
import { placeOfRelated } from './links.ts';
import { RowForm } from './row-form.tsx';
import { keyOf, type Row } from './row-key.ts';
import type { Rows } from './use-rows.ts';
import { readRow } from './write-operations.ts';

interface RowPanelProps {
  readonly schema: RoleSchema;
  readonly table: RoleTable;
  readonly place: DataPlace;
  readonly rows: Rows;
  /** The column whose field gets the keyboard; null: none. */
  readonly field: string | null;
  readonly onDelete: (row: Row) => void;
}

/** The panel; Escape and its button close it. */
export function RowPanel(props: RowPanelProps) {
  const { table, place, field } = props;
  const isNew = place.row === newRow;
  const panel = useRef<HTMLElement>(null);
  const close = (): void => {
    goTo(placeOf({ ...place, row: null }));
    document.querySelector<HTMLElement>('[role="grid"]')?.focus();
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: for each row that is opened from the table
  useEffect(() => {
    const fields = [...(panel.current?.querySelectorAll<HTMLElement>('[data-column]') ?? [])];
    const wanted = fields.find(({ dataset }) => dataset.column === field) ?? (isNew ? fields[0] : undefined);
    wanted?.querySelector<HTMLElement>('input, textarea, select')?.focus();
  }, [place.row, field]);
  return (
    <aside
      ref={panel}
      className="row-panel"
      aria-label={isNew ? `New ${table.name}` : `${table.name} ${place.row}`}
      onKeyDown={(event) => event.key === 'Escape' && !event.defaultPrevented && close()}
    >
      <header className="spread">
        <h3>{isNew ? `New ${table.name}` : `${table.name} ${place.row}`}</h3>
        <button type="button" className="quiet icon-button" aria-label="Close the row" title="Close" onClick={close}>
          <CloseIcon />
        </button>
      </header>
      {isNew ? <NewRow {...props} /> : <OpenRow key={`${JSON.stringify(place.caller)} ${place.row}`} {...props} />}
    </aside>
  );
}

function NewRow({ table, place, rows }: RowPanelProps) {
  const inserted = (row: Row | null): void => {
    if (row !== null) rows.insert([row]);
    say(
      row === null ? `Inserted. ${table.role} does not see the row.` : `Inserted ${table.name} ${keyOf(table, row)}.`,
    );
    goTo(placeOf({ ...place, row: row && keyOf(table, row) }), { replace: true });
  };
  return <RowForm target={{ table, caller: place.caller }} before={null} onSaved={inserted} />;
}

function OpenRow({ schema, table, place, rows, onDelete }: RowPanelProps) {
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
    if (rowKey !== null && rowKey !== key) goTo(placeOf({ ...place, row: rowKey }), { replace: true });
  }, [rowKey]);
  if (row === null) {
    if (value === null || problem !== null) return <Waiting what="row" problem={problem} />;
    return (
      <div className="empty" role="alert">
        <p>There is no such row, or {table.role} does not see it.</p>
      </div>
    );
  }
  const related = table.relationships.flatMap((link) => {
    const to = link.isForeignKey ? null : placeOfRelated(link, schema.tables, row, place);
    return to === null ? [] : [{ name: link.name, target: link.target, to }];
  });
  return (
    <RowForm
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
      {related.length > 0 && (
        <nav aria-label="Related rows" className="related">
          <h3>Related rows</h3>
          <ul>
            {related.map(({ name, target, to }) => (
              <li key={name}>
                <Link to={to}>{name}</Link> <small className="soft">{target}</small>
              </li>
            ))}
          </ul>
        </nav>
      )}
    </RowForm>
  );
}
