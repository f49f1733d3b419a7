/** The collected SQL: to copy, to download as a migration, and to run where the token may. */
import { useRef, useState } from 'react';
import { CopyButton } from '../../components/copy-button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Fault } from '../../components/problem.tsx';
import { ProjectCommand } from '../../components/project-command.tsx';
import { TokenForm } from '../../components/sign-in.tsx';
import { useTask } from '../../shared/requests.ts';
import { askProject, session, tokenCommand, useRunsSql } from '../../shared/session.ts';
import { useStore } from '../../shared/store.ts';
import { findGap } from './policy-draft.ts';
import { sqlChanges, toMigration } from './sql-changes.ts';

interface ChangesDialogProps {
  /** The statements have run. @param warnings What PostgreSQL says beside. */
  readonly onApplied: (warnings: readonly string[]) => void;
  readonly onClose: () => void;
}

/** What says that a condition has yet to be written. */
const gapId = 'gap-of-changes';

/** The dialog. */
export function ChangesDialog({ onApplied, onClose }: ChangesDialogProps) {
  const statements = useStore(sqlChanges);
  const runs = useRunsSql();
  const mayRun = runs === 'yes';
  const { problem, isBusy, run } = useTask();
  const list = useRef<HTMLOListElement>(null);
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
    const body = { statements: toMigration(statements, new Date()).text };
    const answer = await askProject<{ readonly warnings: readonly string[] }>('database/statements', {
      method: 'POST',
      body,
    });
    sqlChanges.set([]);
    onApplied(answer.body.warnings);
  };
  const download = (): void => {
    const { name, text } = toMigration(statements, new Date());
    const address = URL.createObjectURL(new Blob([text], { type: 'application/sql' }));
    const link = Object.assign(document.createElement('a'), { href: address, download: name });
    link.click();
    URL.revokeObjectURL(address);
  };
  const replace = (index: number, sql: string | null): void =>
    sqlChanges.set(statements.flatMap((each, at) => (at !== index ? [each] : sql === null ? [] : [sql])));
  return (
    <Dialog title="Changes as SQL" isWide onClose={onClose}>
      <p className="soft">
        Nothing has run. Read the statements, edit them, and{' '}
        {mayRun
          ? 'apply them, all or none, or run them as a migration.'
          : 'run them as the owner of the tables, for example as a migration.'}
        {runs === 'no connection' && ' To apply them here, the gateway needs --admin-database-url.'}
      </p>
      {statements.length === 0 && <p className="notice">No changes. The buttons of a table add some.</p>}
      <ol className="stack" ref={list}>
        {statements.map((sql, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a statement is its place; its text changes while one types
          <li key={index} className="sql-change">
            <textarea
              aria-label={`Statement ${index + 1}`}
              rows={sql.split('\n').length}
              spellCheck={false}
              value={sql}
              aria-describedby={index === open ? gapId : undefined}
              onChange={({ currentTarget }) => replace(index, currentTarget.value)}
            />
            <button type="button" onClick={() => replace(index, null)}>
              Remove <span className="visually-hidden">statement {index + 1}</span>
            </button>
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
      {statements.length > 0 && (
        <div className="row end">
          <CopyButton text={toMigration(statements, new Date()).text} what="the statements" />
          <button type="button" className={mayRun ? undefined : 'primary'} onClick={download}>
            Download migration
          </button>
          {mayRun && (
            <button
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
      {runs === 'no scope' && statements.length > 0 && <OtherToken />}
    </Dialog>
  );
}

/** The way to a token that may apply them: only the command gives the scope. */
function OtherToken() {
  const now = useStore(session);
  // Who enters the token of the session signs in anew, too.
  const [first] = useState(now);
  const key = now === first || now.kind === 'none' ? 'first' : now.token;
  return (
    <details>
      <summary>Apply them here</summary>
      <div className="stack">
        <p>This needs an access token with the scope database:write. This command creates one:</p>
        <ProjectCommand text={`${tokenCommand},database:write`} />
        <TokenForm key={key} refusal={now === first ? null : 'This access token lacks the scope, too.'} />
      </div>
    </details>
  );
}
