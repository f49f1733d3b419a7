/** The dialogs that make users: with a password, or with an invitation by email. */
import { type FormEvent, useId, useState } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { Fault } from '../../components/problem.tsx';
import { onSubmit, useTask } from '../../shared/requests.ts';
import { useUnsaved } from '../../shared/unsaved.ts';
import { askAuth, inviteUser, type StudioUser } from '../../shared/users.ts';
import { nameOf } from './describe-user.ts';
import type { SayDone } from './user-tab.ts';

interface NewUserProps {
  readonly onDone: SayDone;
  readonly onClose: () => void;
}

/** Hook: leaving the page asks while the form has a text. @returns Its listener. */
function useTexts(): (event: FormEvent<HTMLFormElement>) => void {
  const [has, setHas] = useState(false);
  useUnsaved(has, null);
  return ({ currentTarget }) =>
    setHas([...currentTarget.querySelectorAll('input')].some(({ type, value }) => type !== 'checkbox' && value !== ''));
}

/** Sends an invitation. */
export function InviteDialog({ onDone, onClose }: NewUserProps) {
  const { problem, isBusy, run } = useTask();
  const id = useId();
  const onInput = useTexts();
  const invite = async (email: string) => {
    const user = await inviteUser(email);
    onDone(`Invitation sent to ${user.email}.`, user.id);
  };
  return (
    <Dialog title="Invite user" onClose={onClose}>
      <form className="stack" onInput={onInput} onSubmit={onSubmit(({ email = '' }) => void run(() => invite(email)))}>
        <label htmlFor={id}>Email address</label>
        <input id={id} name="email" type="email" required autoComplete="off" spellCheck={false} />
        <p className="soft small">Creates the account and emails a link to accept the invitation.</p>
        <Fault>{problem?.message}</Fault>
        <div className="row end">
          <button type="submit" className="primary" disabled={isBusy}>
            Send invitation
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Creates a user and sends nothing. */
export function CreateDialog({ onDone, onClose }: NewUserProps) {
  const { problem, isBusy, run } = useTask();
  const id = useId();
  const onInput = useTexts();
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
    <Dialog title="Create user" onClose={onClose}>
      <form className="stack" onInput={onInput} onSubmit={onSubmit((fields) => void run(() => create(fields)))}>
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
        <Fault>{problem?.message}</Fault>
        <div className="row end">
          <button type="submit" className="primary" disabled={isBusy}>
            Create user
          </button>
        </div>
      </form>
    </Dialog>
  );
}
