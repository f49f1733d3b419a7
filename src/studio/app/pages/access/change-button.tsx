/** A button that collects a change; while it is collected, one that takes it back. */
import { collect, type SqlChange, undo, useChange } from './sql-changes.ts';

interface ChangeButtonProps {
  readonly title: string;
  readonly change: SqlChange;
  /** What it concerns, for those who do not see where it stands. */
  readonly what: string;
}

/** The button. */
export function ChangeButton({ title, change, what }: ChangeButtonProps) {
  const pending = useChange(change.key);
  return (
    <button
      type="button"
      title={pending?.sql ?? change.sql}
      onClick={() => (pending === undefined ? collect(change) : undo(change.key))}
    >
      {pending === undefined ? title : 'Undo'} <span className="visually-hidden">{what}</span>
    </button>
  );
}

/** Says what a collected change will do; nothing without one. */
export function PendingOf({ changeKey }: { readonly changeKey: string }) {
  const change = useChange(changeKey);
  if (change === undefined) return null;
  return (
    <span className="pending small">
      <span className="badge changed">pending</span> {change.isEdited ? 'your own SQL' : change.words}
    </span>
  );
}
