/** Asks before rows are deleted, and offers to bring them back where an insert can. */
import { Dialog } from '../../components/dialog.tsx';
import { say } from '../../components/toasts.tsx';
import { ApiError } from '../../shared/api.ts';
import { useTask } from '../../shared/requests.ts';
import { AsCaller } from './as-caller.tsx';
import { Refusal } from './refusal.tsx';
import { keyOf, type Row } from './row-key.ts';
import type { Rows } from './use-rows.ts';
import { deleteRows, insertRows, restorable, type Target } from './write-operations.ts';

interface DeleteDialogProps {
  readonly target: Target;
  readonly chosen: readonly Row[];
  readonly rows: Rows;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

/** The dialog. */
export function DeleteDialog({ target, chosen, rows, onClose, onDeleted }: DeleteDialogProps) {
  const { table } = target;
  const { problem, isBusy, run } = useTask();
  const keys = chosen.map((row) => keyOf(table, row));
  const count = chosen.length === 1 ? '1 row' : `${chosen.length} rows`;
  const back = restorable(table, chosen);
  const restore = (): void => {
    void insertRows(target, back!).then(
      ({ records }) => {
        rows.insert(records);
        say('Undone.');
      },
      (error: unknown) => say(`Not undone: ${(error as Error).message}`),
    );
  };
  const remove = async (): Promise<void> => {
    const { affectedCount } = await deleteRows(target, chosen);
    if (affectedCount === 0) {
      throw new ApiError(
        403,
        'refused',
        `Nothing was deleted: the rows are gone, or a policy does not let ${table.role} delete them.`,
      );
    }
    if (affectedCount === chosen.length) rows.remove(new Set(keys));
    else rows.readAgain();
    onDeleted();
    const said = affectedCount === chosen.length ? `Deleted ${count}.` : `Deleted ${affectedCount} of ${count}.`;
    say(said, back && affectedCount === chosen.length ? { title: 'Undo', run: restore } : null);
  };
  return (
    <Dialog title={`Delete ${count} of ${table.name}?`} onClose={onClose}>
      <p className="soft">
        {keys.slice(0, 12).join(', ')}
        {keys.length > 12 && ` and ${keys.length - 12} more`}
      </p>
      {back === null && <p>This cannot be undone: the database makes the key.</p>}
      <Refusal problem={problem} />
      <div className="row end">
        <AsCaller target={target} />
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" className="danger" disabled={isBusy} onClick={() => void run(remove)}>
          Delete {count}
        </button>
      </div>
    </Dialog>
  );
}
