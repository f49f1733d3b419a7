/** The collected SQL: to copy, and to download as a migration. */
import { CopyButton } from '../../components/copy-button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { useStore } from '../../shared/store.ts';
import { sqlChanges, toMigration } from './sql-changes.ts';

/** The dialog. */
export function ChangesDialog({ onClose }: { readonly onClose: () => void }) {
  const statements = useStore(sqlChanges);
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
        Nothing has run. Read the statements, edit them, and run them as the owner of the tables, for example as a
        migration. The page shows the effect at the next look.
      </p>
      {statements.length === 0 && <p className="notice">No changes. The buttons of a table add some.</p>}
      <ol className="stack">
        {statements.map((sql, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a statement is its place; its text changes while one types
          <li key={index} className="sql-change">
            <textarea
              aria-label={`Statement ${index + 1}`}
              rows={sql.split('\n').length}
              spellCheck={false}
              value={sql}
              onChange={({ currentTarget }) => replace(index, currentTarget.value)}
            />
            <button type="button" onClick={() => replace(index, null)}>
              Remove <span className="visually-hidden">statement {index + 1}</span>
            </button>
          </li>
        ))}
      </ol>
      {statements.length > 0 && (
        <div className="row end">
          <CopyButton text={toMigration(statements, new Date()).text} what="the statements" />
          <button type="button" className="primary" onClick={download}>
            Download migration
          </button>
        </div>
      )}
    </Dialog>
  );
}
