/**
 * Invites a user by email.
 */
import { useId } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { Fault } from '../../components/problem.tsx';
import { onSubmit, useTask } from '../../shared/requests.ts';
import { inviteUser, type StudioUser } from '../../shared/users.ts';

interface InviteDialogProps {
  readonly onInvited: (user: StudioUser) => void;
  readonly onClose: () => void;
}

/** The dialog. */
export function InviteDialog({ onInvited, onClose }: InviteDialogProps) {
  const { problem, run } = useTask();
  const id = useId();
  const submit = onSubmit(({ email = '' }) => void run(() => inviteUser(email).then(onInvited)));
  return (
    <Dialog title="Invite user" onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <label htmlFor={id}>Email address</label>
        <input id={id} name="email" type="email" required autoComplete="off" spellCheck={false} />
        <p className="soft small">Creates the account and emails a link to accept the invitation.</p>
        <Fault>{problem?.message}</Fault>
        <div className="row end">
          <button type="submit" className="primary">
            Send invitation
          </button>
        </div>
      </form>
    </Dialog>
  );
}
