/** The form of a row: what may be changed, what has changed, and what the API says of it. */
import { type KeyboardEvent, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Fact, Facts } from '../../components/facts.tsx';
import { say } from '../../components/toasts.tsx';
import { ApiError } from '../../shared/api.ts';
import { OperationError } from '../../shared/graphql.ts';
import { useTask } from '../../shared/requests.ts';
import type { RoleSchema, TableColumn } from '../../shared/role-schema.ts';
import { useUnsaved } from '../../shared/unsaved.ts';
import { AsCaller } from './as-caller.tsx';
import type { CellOpening, DataPlace } from './data-place.ts';
import { type FieldText, textOfKey, toFieldText } from './field-text.ts';
import { describeLacks, lacksOf } from './lacks.ts';
import { Refusal } from './refusal.tsx';
import {
  changedOf,
  checksOf,
  countRelated,
  draftOf,
  isDirty,
  isFaulty,
  placeOfDraft,
  placeOfFault,
  type RowDraft,
  toInput,
  unwrittenOf,
} from './row-draft.ts';
import { RowFields } from './row-fields.tsx';
import { filterOfValues, keyOf, type Row } from './row-key.ts';
import { insertRows, readRow, type Target, updateRow } from './write-operations.ts';

interface RowFormProps {
  readonly schema: RoleSchema;
  readonly place: DataPlace;
  readonly target: Target;
  /** The row as it was read; null for a new one. */
  readonly before: Row | null;
  /** The field that gets the keyboard; null: none. */
  readonly opening: CellOpening | null;
  /** @param row As the caller sees it now; null: not any more. */
  readonly onSaved: (row: Row | null, related: number, made: readonly string[]) => void;
  /** Relationships of which rows were inserted with the row just now. */
  readonly made?: readonly string[];
  /** Asks whether to delete the row; null: the caller may not. */
  readonly onDelete?: (() => void) | null;
  /** For Escape. @param isTaken What was typed is dropped without a question. */
  readonly onLeave: (isTaken: boolean) => void;
  readonly children?: ReactNode;
}

/** What of the address the form belongs to. */
const ties = ['as', 'row'];

const none: readonly string[] = [];

const nothing: Pick<RowDraft, 'texts' | 'related'> = { texts: {}, related: {} };

/** The form. */
export function RowForm(props: RowFormProps) {
  const {
    schema,
    place,
    target,
    before: latest,
    opening,
    onSaved,
    onDelete = null,
    onLeave,
    made = none,
    children,
  } = props;
  const { table } = target;
  const [typed, setTyped] = useState(nothing);
  const [saved, setSaved] = useState(0);
  /** The row as somebody else has changed it meanwhile. */
  const [theirs, setTheirs] = useState<Row | null>(null);
  const { problem, isBusy, run } = useTask();
  /** What was said to be missing, instead of sending the form. */
  // Another object for each press: the missing field gets the keyboard again.
  const [told, setTold] = useState<{ readonly lacks: string } | null>(null);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (told === null) return;
    const field = form.current?.querySelector<HTMLElement>(
      '[data-missing="true"] :is(input, textarea, select, .cm-content)',
    );
    field?.focus();
  }, [told]);
  // What was edited is compared with what its editor saw, although the row may have been read again.
  const seen = useRef(latest);
  if (typed === nothing) seen.current = latest;
  const draft: RowDraft = { ...draftOf(table, seen.current), ...typed };
  const { before } = draft;
  const hasChanges = isDirty(draft);
  useUnsaved(hasChanges, ties);
  const onChange = (change: (draft: RowDraft) => RowDraft): void =>
    setTyped((now) => {
      const { texts, related } = change({ ...draftOf(table, seen.current), ...now });
      return { texts, related };
    });
  // Before the next key comes.
  // biome-ignore lint/correctness/useExhaustiveDependencies: for each key that begins to edit a cell
  useLayoutEffect(() => {
    const column = table.columns.find(({ name }) => name === opening?.column);
    if (column === undefined || typeof opening?.typed !== 'string') return;
    const text = textOfKey(table, column, opening.typed);
    if (text !== undefined) onChange((now) => ({ ...now, texts: { ...now.texts, [column.name]: text } }));
  }, [opening]);

  const done = (row: Row | null, left: RowDraft['related'] = {}): void => {
    const related = countRelated(draft);
    setTyped(Object.keys(left).length === 0 ? nothing : { texts: {}, related: left });
    setTheirs(null);
    setTold(null);
    setSaved((count) => count + 1);
    onSaved(row, related, Object.keys(draft.related));
  };
  const insert = async (): Promise<boolean> => {
    const { records } = await insertRows(target, [toInput(draft)]);
    done(records[0] ?? null);
    return true;
  };
  const update = async (from: Row): Promise<boolean> => {
    const columns = changedOf(draft);
    const same = filterOfValues(table, from, columns, from);
    const { affectedCount, records } = await updateRow(target, same, toInput(draft), checksOf(draft));
    if (affectedCount > 0) {
      const [next = null] = records;
      const left = next === null ? {} : unwrittenOf(draft, next);
      done(next, await readLeft(left));
      sayDone(from, next, columns, left);
      return true;
    }
    const now = await readRow(target, keyOf(table, from));
    if (now === null)
      throw new ApiError(404, 'gone', `The row was deleted meanwhile, or ${table.role} does not see it any more.`);
    if (columns.every(({ name }) => JSON.stringify(now[name]) === JSON.stringify(from[name]))) {
      throw new ApiError(
        403,
        'refused',
        `Nothing was changed: ${table.role} sees the row, but a policy does not let it change the row.`,
      );
    }
    setTheirs(now);
    return false;
  };
  /** What is typed of them is saved over what they are now, the next time. */
  const readLeft = async (left: RowDraft['related']): Promise<RowDraft['related']> => {
    const lists = Object.entries(left).map(async ([name, rows]) => {
      const read = rows.map(async (row) => {
        const { draft: one } = row;
        const now = await readRow({ ...target, table: one.table }, keyOf(one.table, one.before!));
        return now === null ? [] : { ...row, draft: { ...one, before: now } };
      });
      return [name, (await Promise.all(read)).flat()] as const;
    });
    return Object.fromEntries(await Promise.all(lists));
  };
  const sayDone = (from: Row, next: Row | null, columns: readonly TableColumn[], left: RowDraft['related']): void => {
    const kept = Object.values(left).flat();
    if (kept.length > 0) {
      const names = kept.map((row) => `${row.draft.table.name} ${keyOf(row.draft.table, row.draft.before!)}`);
      say(`Saved, but not ${names.join(', ')}: changed meanwhile, or a policy does not let ${table.role} write it.`);
    } else if (next === null) say(`Saved. ${table.role} does not see the row any more.`);
    else say('Saved.', countRelated(draft) > 0 ? null : undo(from, next, columns));
  };
  const undo = (old: Row, next: Row, columns: readonly TableColumn[]) => ({
    title: 'Undo',
    run: () => {
      const back = Object.fromEntries(columns.map(({ name }) => [name, old[name]]));
      void updateRow(target, filterOfValues(table, next, columns, next), back).then(
        ({ affectedCount, records }) => {
          if (affectedCount > 0) onSaved(records[0] ?? null, 0, none);
          say(affectedCount > 0 ? 'Undone.' : 'Not undone: the row was changed meanwhile.');
        },
        (error: unknown) => say(`Not undone: ${(error as Error).message}`),
      );
    },
  });
  const base = theirs ?? before;
  const mayWrite = before === null || table.update !== null;
  const maySave = mayWrite && !isBusy && !isFaulty(draft) && (before === null || hasChanges);
  const lacks = lacksOf(draft);
  const lacking = lacks.length === 0 ? null : describeLacks(lacks);
  const wasTold = lacking !== null && told !== null;
  const isClash = lacks.some(({ twin }) => twin !== null);
  const save = async (then: () => void = () => {}): Promise<void> => {
    if (!maySave) return;
    setTold(lacking === null ? null : { lacks: lacking });
    // Told once: a trigger may give what is missing. Two rows of one key are refused whatever it does.
    if (lacking !== null && (told?.lacks !== lacking || isClash)) return;
    await run(async () => {
      if (await (base === null ? insert() : update(base))) then();
    });
  };
  /** The one cell that somebody began to edit by typing is saved and left as in any spreadsheet. */
  const isCell =
    typeof opening?.typed === 'string' &&
    changedOf(draft).every(({ name }) => name === opening.column) &&
    countRelated(draft) === 0;
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.defaultPrevented) return;
    const isInField = (event.target as HTMLElement).closest('[data-column]') !== null;
    if (event.key === 'Enter' && !event.shiftKey && isCell && isInField)
      void save(() => document.querySelector<HTMLElement>('[role="grid"]')?.focus());
    else if (event.key === 'Escape') onLeave(isCell);
    else return;
    event.preventDefault();
  };
  // Before the editor of JSON takes the key for itself.
  const onKeyDownCapture = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    event.stopPropagation();
    void save();
  };
  const refused =
    problem === null
      ? null
      : { problem, place: placeOfFault(draft, problem instanceof OperationError ? (problem.input ?? '') : '') };
  const isElsewhere = refused !== null && refused.place !== placeOfDraft(draft);
  return (
    <form
      ref={form}
      className="row-form"
      onKeyDown={onKeyDown}
      onKeyDownCapture={onKeyDownCapture}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <div className="fields">
        <RowFields
          draft={draft}
          onChange={onChange}
          place={placeOfDraft(draft)}
          opening={opening}
          context={{ schema, place, refused, lacks: wasTold ? lacks : null, saved, made }}
        />
        {children}
      </div>
      <footer>
        {theirs !== null && (
          <Meanwhile theirs={theirs} changed={changedOf(draft)} draft={draft} onTake={() => done(theirs)} />
        )}
        {wasTold && (
          <div className="notice warning small" role="alert">
            Nothing was sent: {lacking}
            {!isClash && ' If a trigger fills it in, press the button again.'}
          </div>
        )}
        <Refusal
          problem={
            isElsewhere ? new ApiError(problem!.status, problem!.code, 'Nothing was saved: see above.') : problem
          }
        />
        <div className="row end">
          {mayWrite && <AsCaller target={target} />}
          {onDelete !== null && (
            <button type="button" className="danger" onClick={onDelete}>
              Delete
            </button>
          )}
          {hasChanges && before !== null && (
            <button type="button" onClick={() => (theirs === null ? setTyped(nothing) : done(theirs))}>
              Discard
            </button>
          )}
          {mayWrite && (
            <button type="submit" className="primary" disabled={!maySave} title="Ctrl+Enter">
              {before === null ? 'Insert' : theirs === null ? 'Save' : 'Overwrite'}
              {wasTold && told.lacks === lacking && !isClash && ' anyway'}
            </button>
          )}
        </div>
      </footer>
    </form>
  );
}

interface MeanwhileProps {
  readonly theirs: Row;
  readonly changed: readonly TableColumn[];
  readonly draft: RowDraft;
  readonly onTake: () => void;
}

/** Both versions of what was changed twice. */
function Meanwhile({ theirs, changed, draft: { texts }, onTake }: MeanwhileProps) {
  const shown = (text: FieldText | undefined): string => text ?? 'null';
  return (
    <div className="notice warning small" role="alert">
      <strong>The row was changed meanwhile. Nothing was saved.</strong>
      <Facts>
        {changed.map(({ name, type }) => (
          <Fact key={name} name={name}>
            now <code>{shown(toFieldText(theirs[name], type))}</code>, yours <code>{shown(texts[name])}</code>
          </Fact>
        ))}
      </Facts>
      <button type="button" onClick={onTake}>
        Take theirs
      </button>
    </div>
  );
}
