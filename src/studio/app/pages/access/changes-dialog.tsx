/** The collected SQL: to copy, to download as a migration, and to run where the token may. */
import { useEffect, useRef, useState } from 'react';
import type { AccessOverview } from '../../../../management/access/access-schemas.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Fault } from '../../components/problem.tsx';
import { useTask } from '../../shared/requests.ts';
import { askProject, useRunsSql } from '../../shared/session.ts';
import { useStore } from '../../shared/store.ts';
import { saveFile } from '../../shared/take-along.ts';
import { ApplyHere } from './apply-here.tsx';
import { type ChangeNotice, noticesOf } from './change-notices.ts';
import { findGap } from './policy-draft.ts';
import { collect, type SqlChange, sqlChanges, toMigration } from './sql-changes.ts';

interface ChangesDialogProps {
  /** Null: not read yet. */
  readonly overview: AccessOverview | null;
  /** The role of callers that are not signed in. */
  readonly anon: string;
  /** The statements have run. @param warnings What PostgreSQL says beside. */
  readonly onApplied: (changes: readonly SqlChange[], warnings: readonly string[]) => void;
  readonly onClose: () => void;
}

/** What says that a condition has yet to be written. */
const gapId = 'gap-of-changes';

/** The dialog. */
export function ChangesDialog({ overview, anon, onApplied, onClose }: ChangesDialogProps) {
  const changes = useStore(sqlChanges);
  const statements = changes.map(({ sql }) => sql);
  const runs = useRunsSql();
  const mayRun = runs === 'yes';
  const { problem, isBusy, run } = useTask();
  const list = useRef<HTMLOListElement>(null);
  const applies = useRef<HTMLButtonElement>(null);
  const [couldRunFirst] = useState(mayRun);
  const couldRun = useRef(mayRun);
  // Whoever has just entered a token goes on with the button.
  useEffect(() => {
    if (mayRun && !couldRun.current) applies.current?.focus();
    couldRun.current = mayRun;
  }, [mayRun]);
  const gaps = statements.map(findGap);
  const open = gaps.findIndex((each) => each !== null);
  const gap = gaps[open];
  const showGap = (): void => {
    const text = list.current?.querySelectorAll('textarea')[open];
    if (!text || !gap) return;
    text.focus();
    text.setSelectionRange(gap.start, gap.end);
  };
  const apply = async (): Promise<void> => {
    const body = { statements: toMigration(changes, new Date()).text };
    const answer = await askProject<{ readonly warnings: readonly string[] }>('database/statements', {
      method: 'POST',
      body,
    });
    sqlChanges.set([]);
    onApplied(changes, answer.body.warnings);
  };
  const download = (): void => {
    const { name, text } = toMigration(changes, new Date());
    saveFile(name, text);
  };
  const replace = (index: number, sql: string | null): void =>
    sqlChanges.set(
      changes.flatMap((each, at) => (at !== index ? [each] : sql === null ? [] : [{ ...each, sql, isEdited: true }])),
    );
  return (
    <Dialog title="Changes as SQL" isWide onClose={onClose}>
      <p className="soft">
        Nothing has run. Read the statements, edit them, and{' '}
        {runs === 'no connection' ? 'run them' : 'apply them here, all or none, or run them'} as the owner of the
        tables, for example as a migration.
        {runs === 'no connection' && ' To apply them here, the gateway needs --admin-database-url.'}
      </p>
      {statements.length === 0 && <p className="notice">No changes. The buttons and boxes of a table add some.</p>}
      <ol className="stack" ref={list}>
        {changes.map((change, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a statement is its place; its text changes while one types
          <li key={index} className="sql-change">
            <textarea
              aria-label={`Statement ${index + 1}`}
              rows={change.sql.split('\n').length}
              spellCheck={false}
              value={change.sql}
              aria-describedby={index === open ? gapId : undefined}
              onChange={({ currentTarget }) => replace(index, currentTarget.value)}
            />
            <button type="button" onClick={() => replace(index, null)}>
              Remove <span className="visually-hidden">statement {index + 1}</span>
            </button>
            {overview !== null &&
              noticesOf(overview, anon, change, changes).map((notice) => <Notice key={notice.text} notice={notice} />)}
          </li>
        ))}
      </ol>
      {gap && (
        <div className="notice warning spread" id={gapId}>
          <span>
            Statement {open + 1}, line {gap.line} lets no row pass yet. In place of <code>{'false /* … */'}</code>,
            write which rows: a condition such as <code>status = 'published'</code>, or <code>true</code> for all.
          </span>
          <button type="button" onClick={showGap}>
            Write it
          </button>
        </div>
      )}
      <Fault>{problem?.message}</Fault>
      {runs === 'no scope' && statements.length > 0 && <ApplyHere />}
      <div role="status">
        {mayRun && !couldRunFirst && (
          <p className="notice good">You may change the database now: apply the statements.</p>
        )}
      </div>
      {statements.length > 0 && (
        <div className="row end">
          <CopyButton text={toMigration(changes, new Date()).text} what="the statements" />
          <button type="button" className={runs === 'no connection' ? 'primary' : undefined} onClick={download}>
            Download migration
          </button>
          {mayRun && (
            <button
              ref={applies}
              type="button"
              className="primary"
              disabled={isBusy || open >= 0}
              aria-describedby={open >= 0 ? gapId : undefined}
              onClick={() => run(apply)}
            >
              Apply
            </button>
          )}
        </div>
      )}
    </Dialog>
  );
}

function Notice({ notice: { kind, text, ways } }: { readonly notice: ChangeNotice }) {
  return (
    <div className={kind === 'hint' ? 'soft small' : 'notice warning spread'}>
      <span>{text}</span>
      {ways.length > 0 && (
        <span className="row">
          {ways.map(({ title, change }) => (
            <button key={title} type="button" onClick={() => collect(change)}>
              {title}
            </button>
          ))}
        </span>
      )}
    </div>
  );
}
