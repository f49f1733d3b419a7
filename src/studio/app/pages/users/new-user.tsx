/** The dialogs that make users: with a password, or with an invitation by email. */
import { useId } from 'react';
import { FormDialog } from '../../components/form-dialog.tsx';
import { askAuth, inviteUser, type StudioUser } from '../../shared/users.ts';
import { nameOf } from './describe-user.ts';
import type { SayDone } from './user-tab.ts';

interface NewUserProps {
  readonly onDone: SayDone;
  readonly onClose: () => void;
}

/** Sends an invitation. */
export function InviteDialog({ onDone, onClose }: NewUserProps) {
  const id = useId();
  const invite = async ({ email = '' }: Readonly<Record<string, string>>) => {
    const user = await inviteUser(email);
    onDone(`Invitation sent to ${user.email}.`, user.id);
  };
  return (
    <FormDialog title="Invite user" action="Send invitation" onTake={invite} onClose={onClose}>
      <label htmlFor={id}>Email address</label>
      <input id={id} name="email" type="email" required autoComplete="off" spellCheck={false} />
      <p className="soft small">Creates the account and emails a link to accept the invitation.</p>
    </FormDialog>
  );
}

/** Creates a user and sends nothing. */
export function CreateDialog({ onDone, onClose }: NewUserProps) {
  const id = useId();
  const create = async ({ email = '', phone = '', password = '', confirm = '' }: Readonly<Record<string, string>>) => {
    const isConfirmed = confirm === 'on';
    const body = {
      ...(email !== '' && { email, email_confirm: isConfirmed }),
      ...(phone !== '' && { phone, phone_confirm: isConfirmed }),
      ...(password !== '' && { password }),
    };
    const { body: user } = await askAuth<StudioUser>('admin/users', { method: 'POST', body });
    onDone(`${nameOf(user)} was created.`, user.id);
  };
  return (
    <FormDialog title="Create user" action="Create user" onTake={create} onClose={onClose}>
      <label htmlFor={`${id}-email`}>Email address</label>
      <input id={`${id}-email`} name="email" type="email" autoComplete="off" spellCheck={false} />
      <label htmlFor={`${id}-phone`}>Phone</label>
      <input id={`${id}-phone`} name="phone" type="tel" autoComplete="off" placeholder="+49 170 1234567" />
      <label htmlFor={`${id}-password`}>Password</label>
      <input id={`${id}-password`} name="password" type="password" autoComplete="new-password" />
      <p className="soft small">Without a password, the user signs in by link or code.</p>
      <label className="switch">
        <input name="confirm" type="checkbox" defaultChecked /> Confirmed already
      </label>
      <p className="soft small">No email is sent.</p>
    </FormDialog>
  );
}
