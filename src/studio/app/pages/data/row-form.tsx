/** The form of a row: what may be changed, what has changed, and what the API says of it. */
import { type ReactNode, useRef, useState } from 'react';
import { say } from '../../components/toasts.tsx';
import { ApiError } from '../../shared/api.ts';
import { OperationError } from '../../shared/graphql.ts';
import { useTask } from '../../shared/requests.ts';
import type { TableColumn } from '../../shared/role-schema.ts';
import { type FieldText, faultOf, toFieldText, toValue } from './field-text.ts';
import { keyOf, type Row } from './row-key.ts';
import { ValueEditor } from './value-editor.tsx';
import { insertRows, readRow, type Target, updateRow } from './write-operations.ts';

interface RowFormProps {
  readonly target: Target;
  /** The row as it was read; null for a new one. */
  readonly before: Row | null;
  /** @param row As the caller sees it now; null: not any more. */
  readonly onSaved: (row: Row | null) => void;
  /** Asks whether to delete the row; null: the caller may not. */
  readonly onDelete?: (() => void) | null;
  readonly children?: ReactNode;
}

type Draft = Readonly<Record<string, FieldText | undefined>>;

/** The form. */
export function RowForm({ target, before: latest, onSaved, onDelete = null, children }: RowFormProps) {
  const { table } = target;
  const [draft, setDraft] = useState<Draft>({});
  /** The row as somebody else has changed it meanwhile. */
  const [theirs, setTheirs] = useState<Row | null>(null);
  const { problem, isBusy, run } = useTask();
  // What was edited is compared with what its editor saw, although the row may have been read again.
  const seen = useRef(latest);
  if (Object.keys(draft).length === 0) seen.current = latest;
  const before = seen.current;
  const base = theirs ?? before;
  const columns = table.columns.filter((column) => (before === null ? column.insert !== null : column.isRead));
  const generated = before === null ? table.columns.filter(({ insert }) => insert === null) : [];
  const isFixed = (column: TableColumn): boolean =>
    before !== null && (table.update === null || column.update === null);
  const startOf = ({ name, type }: TableColumn): FieldText | undefined =>
    before === null ? undefined : toFieldText(before[name], type);
  const changed = columns.filter((column) => column.name in draft && draft[column.name] !== startOf(column));
  const isFaulty = changed.some(({ name, type }) => faultOf(draft[name] ?? null, type) !== null);
  const set = (): Row =>
    Object.fromEntries(
      changed.map((column) => [column.name, toValue(draft[column.name] ?? null, column, table.jsonValues)]),
    );

  const done = (row: Row | null): void => {
    setDraft({});
    setTheirs(null);
    onSaved(row);
  };
  const insert = async (): Promise<void> => done((await insertRows(target, [set()])).records[0] ?? null);
  const update = async (from: Row): Promise<void> => {
    const given = set();
    const { affectedCount, records } = await updateRow(target, from, given);
    if (affectedCount > 0) {
      const [next = null] = records;
      done(next);
      say(
        next === null ? `Saved. ${table.role} does not see the row any more.` : 'Saved.',
        next && undo(from, next, given),
      );
      return;
    }
    const now = await readRow(target, keyOf(table, from));
    if (now === null)
      throw new ApiError(404, 'gone', `The row was deleted meanwhile, or ${table.role} does not see it any more.`);
    const isSame = Object.keys(given).every((name) => JSON.stringify(now[name]) === JSON.stringify(from[name]));
    if (isSame) {
      throw new ApiError(
        403,
        'refused',
        `Nothing was changed: ${table.role} sees the row, but a policy does not let it change the row.`,
      );
    }
    setTheirs(now);
  };
  const undo = (old: Row, next: Row, given: Row) => ({
    title: 'Undo',
    run: () => {
      const back = Object.fromEntries(Object.keys(given).map((name) => [name, old[name]]));
      void updateRow(target, next, back).then(
        ({ affectedCount, records }) => {
          if (affectedCount > 0) onSaved(records[0] ?? null);
          say(affectedCount > 0 ? 'Undone.' : 'Not undone: the row was changed meanwhile.');
        },
        (error: unknown) => say(`Not undone: ${(error as Error).message}`),
      );
    },
  });
  const save = (): void => void run(() => (base === null ? insert() : update(base)));
  return (
    <form
      className="row-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isFaulty) save();
      }}
    >
      <div className="fields">
        {columns.map((column) => (
          <ValueEditor
            key={column.name}
            table={table}
            column={column}
            text={column.name in draft ? draft[column.name] : startOf(column)}
            isReadOnly={isFixed(column)}
            isChanged={changed.includes(column)}
            isNew={before === null}
            onChange={(text) =>
              setDraft(({ [column.name]: _, ...others }) =>
                text === undefined ? others : { ...others, [column.name]: text },
              )
            }
          />
        ))}
        {generated.length > 0 && (
          <p className="soft small">Made by the database: {generated.map(({ name }) => name).join(', ')}.</p>
        )}
        {children}
      </div>
      <footer>
        {theirs !== null && <Meanwhile theirs={theirs} changed={changed} draft={draft} onTake={() => done(theirs)} />}
        <Refusal problem={problem} />
        <div className="row end">
          {onDelete !== null && (
            <button type="button" className="danger" onClick={onDelete}>
              Delete
            </button>
          )}
          {changed.length > 0 && before !== null && (
            <button type="button" onClick={() => (theirs === null ? setDraft({}) : done(theirs))}>
              Discard
            </button>
          )}
          {(before === null || table.update !== null) && (
            <button
              type="submit"
              className="primary"
              disabled={isBusy || isFaulty || (before !== null && changed.length === 0)}
            >
              {before === null ? 'Insert' : theirs === null ? 'Save' : 'Overwrite'}
            </button>
          )}
        </div>
      </footer>
    </form>
  );
}

/** What the API said, as it said it. */
export function Refusal({ problem }: { readonly problem: ApiError | null }) {
  return (
    <div role="alert">
      {problem !== null && (
        <div className="notice fault small">
          {problem.message}
          {problem instanceof OperationError && problem.hint !== null && <p>{problem.hint}</p>}
        </div>
      )}
    </div>
  );
}

interface MeanwhileProps {
  readonly theirs: Row;
  readonly changed: readonly TableColumn[];
  readonly draft: Draft;
  readonly onTake: () => void;
}

/** Both versions of what was changed twice. */
function Meanwhile({ theirs, changed, draft, onTake }: MeanwhileProps) {
  return (
    <div className="notice warning small" role="alert">
      <strong>The row was changed meanwhile. Nothing was saved.</strong>
      <dl>
        {changed.map(({ name, type }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              now <code>{toFieldText(theirs[name], type) ?? 'null'}</code>, yours <code>{draft[name] ?? 'null'}</code>
            </dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={onTake}>
        Take theirs
      </button>
    </div>
  );
}
