/**
 * Confirms the deletion of a user.
 */
import { Dialog } from '../../components/dialog.tsx';
import { Fault } from '../../components/problem.tsx';
import { useTask } from '../../shared/requests.ts';
import { askAuth, type StudioUser } from '../../shared/users.ts';
import { nameOf } from './describe-user.ts';

interface DeleteDialogProps {
  readonly user: StudioUser;
  readonly onDeleted: () => void;
  readonly onClose: () => void;
}

/** The dialog. */
export function DeleteDialog({ user, onDeleted, onClose }: DeleteDialogProps) {
  const { problem, run } = useTask();
  const remove = () => askAuth(`admin/users/${user.id}`, { method: 'DELETE' }).then(onDeleted);
  return (
    <Dialog title={`Delete ${nameOf(user)}?`} onClose={onClose}>
      <p>
        Deletes the account with its sessions, factors and identities. Rows in your tables that reference it follow the
        rules of their foreign keys. This cannot be undone.
      </p>
      <Fault>{problem?.message}</Fault>
      <div className="row end">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" className="danger" onClick={() => run(remove)}>
          Delete user
        </button>
      </div>
    </Dialog>
  );
}
