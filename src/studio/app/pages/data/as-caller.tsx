/** As whom something is about to be written. */
import type { Target } from './write-operations.ts';

/** The words, at the beginning of a row of buttons. */
export function AsCaller({ target: { table, caller } }: { readonly target: Target }) {
  return <span className="as-caller soft small">As {caller.kind === 'user' ? 'the user' : table.role}</span>;
}
