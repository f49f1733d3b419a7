/** A button that collects a change; while it is collected, one that takes it back. */
import { collect, type SqlChange, undo, useChange, wordsFor, wordsForAll } from './sql-changes.ts';

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

interface PendingOfProps {
  readonly changeKey: string;
  /** For whom; absent: for all. */
  readonly role?: string;
}

/** Says what a collected change will do; nothing without one. */
export function PendingOf({ changeKey, role }: PendingOfProps) {
  const change = useChange(changeKey);
  if (change === undefined) return null;
  const words = role === undefined ? wordsForAll(change) : wordsFor(change, role);
  if (words === null) return null;
  return (
    <span className="pending small">
      <span className="badge changed">pending</span> {words}
    </span>
  );
}
