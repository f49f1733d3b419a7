/**
 * Invites somebody by email.
 */
import { type FormEvent, useId, useState } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { ApiError } from '../../shared/api.ts';
import { inviteUser, type StudioUser } from '../../shared/users.ts';

interface InviteDialogProps {
  readonly onInvited: (user: StudioUser) => void;
  readonly onClose: () => void;
}

/** The dialog. */
export function InviteDialog({ onInvited, onClose }: InviteDialogProps) {
  const [problem, setProblem] = useState<string | null>(null);
  const id = useId();
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const email = String(new FormData(event.currentTarget).get('email')).trim();
    inviteUser(email).then(onInvited, (error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      setProblem(error.message);
    });
  };
  return (
    <Dialog title="Invite user" onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <label htmlFor={id}>Email address</label>
        <input id={id} name="email" type="email" required autoComplete="off" spellCheck={false} />
        <p className="soft small">Creates the account and emails a link to accept the invitation.</p>
        <p className="fault" role="alert">
          {problem}
        </p>
        <div className="row end">
          <button type="submit" className="primary">
            Send invitation
          </button>
        </div>
      </form>
    </Dialog>
  );
}
