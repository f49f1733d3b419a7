/**
 * Asks before a user is deleted.
 */
import { useState } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { ApiError } from '../../shared/api.ts';
import { deleteUser, type StudioUser } from '../../shared/users.ts';
import { nameOf } from './describe-user.ts';

interface DeleteDialogProps {
  readonly user: StudioUser;
  readonly onDeleted: () => void;
  readonly onClose: () => void;
}

/** The dialog. */
export function DeleteDialog({ user, onDeleted, onClose }: DeleteDialogProps) {
  const [problem, setProblem] = useState<string | null>(null);
  const remove = (): void => {
    deleteUser(user.id).then(onDeleted, (error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      setProblem(error.message);
    });
  };
  return (
    <Dialog title={`Delete ${nameOf(user)}?`} onClose={onClose}>
      <p>
        Deletes the account with its sessions, factors and identities. Rows in your tables that reference it follow the
        rules of their foreign keys. This cannot be undone.
      </p>
      <p className="fault" role="alert">
        {problem}
      </p>
      <div className="row end">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" className="danger" onClick={remove}>
          Delete user
        </button>
      </div>
    </Dialog>
  );
}
