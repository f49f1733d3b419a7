/** Address, number, password and state of a user, and what cannot be undone. */
import { type ReactNode, useId, useState } from 'react';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { Fact, Facts } from '../../components/facts.tsx';
import { Moment } from '../../components/moment.tsx';
import { Fault } from '../../components/problem.tsx';
import { useUnsaved } from '../../shared/unsaved.ts';
import { askAuth, changeUser, inviteUser, type StudioUser, sendRecovery, userPath } from '../../shared/users.ts';
import { isBanned, isInvited, nameOf } from './describe-user.ts';
import { changedMeanwhile, useSeen } from './use-seen.ts';
import { tabTies, type UserTabProps } from './user-tab.ts';

/** The tab. */
export function AccountTab(props: UserTabProps & { readonly onDeleted: (sentence: string) => void }) {
  const { user, onDeleted } = props;
  return (
    <>
      <Times user={user} />
      <EditForm {...props} />
      <Emails {...props} />
      <DangerZone {...props} onDeleted={onDeleted} />
    </>
  );
}

function Times({ user }: { readonly user: StudioUser }) {
  const times = [
    ['Created', user.created_at],
    ['Invited', user.invited_at],
    ['Confirmed', user.confirmed_at],
    ['Last sign-in', user.last_sign_in_at],
    ['Banned until', user.banned_until],
    ['Deleted', user.deleted_at],
  ] as const;
  return (
    <Facts>
      {times.map(
        ([title, time]) =>
          time !== undefined && (
            <Fact key={title} name={title}>
              <Moment at={time} />
            </Fact>
          ),
      )}
      <Fact name="Role">{user.role}</Fact>
    </Facts>
  );
}

/** What was typed; the others are those of the user. */
type Typed = Partial<Readonly<Record<'email' | 'phone' | 'password', string>>>;

function EditForm({ user, onAct, isBusy }: UserTabProps) {
  const id = useId();
  const [typed, setTyped] = useState<Typed>({});
  const { email = user.email, phone = user.phone, password = '' } = typed;
  const change = {
    ...(email.trim() !== user.email && { email: email.trim() }),
    ...(phone.trim() !== user.phone && { phone: phone.trim() }),
    ...(password !== '' && { password }),
  };
  const isTyped = Object.keys(change).length > 0;
  useUnsaved(isTyped, tabTies);
  const seen = useSeen(user, isTyped);
  const type = (field: keyof Typed, text: string) => setTyped((now) => ({ ...now, [field]: text }));
  const isEmptied = change.email === '' || change.phone === '';
  const save = () =>
    onAct(
      async () => {
        await changeUser(user, change);
        setTyped({});
      },
      `${nameOf(user)} was changed.`,
    );
  const confirm = (what: 'email' | 'phone') =>
    onAct(() => changeUser(user, { [`${what}_confirm`]: true }), `The ${what} of ${nameOf(user)} is confirmed.`);
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <label htmlFor={`${id}-email`}>Email address</label>
      <Field
        isConfirmed={user.email_confirmed_at !== undefined}
        has={user.email !== ''}
        what="email"
        onConfirm={confirm}
      >
        <input
          id={`${id}-email`}
          type="email"
          value={email}
          onChange={({ target }) => type('email', target.value)}
          spellCheck={false}
          autoComplete="off"
        />
      </Field>
      <label htmlFor={`${id}-phone`}>Phone</label>
      <Field
        isConfirmed={user.phone_confirmed_at !== undefined}
        has={user.phone !== ''}
        what="phone"
        onConfirm={confirm}
      >
        <input
          id={`${id}-phone`}
          type="tel"
          value={phone}
          onChange={({ target }) => type('phone', target.value)}
          autoComplete="off"
        />
      </Field>
      <label htmlFor={`${id}-password`}>New password</label>
      <input
        id={`${id}-password`}
        type="password"
        value={password}
        onChange={({ target }) => type('password', target.value)}
        autoComplete="new-password"
      />
      {password !== '' && <p className="soft small">A new password ends all sessions of the user.</p>}
      {seen.updated_at !== user.updated_at && (
        <p className="notice warning" role="status">
          {changedMeanwhile}
          {change.email !== undefined && seen.email !== user.email && ` The address is now ${user.email}.`}
          {change.phone !== undefined && seen.phone !== user.phone && ` The number is now ${user.phone}.`}
        </p>
      )}
      <Fault>{isEmptied && 'An address or a number can be replaced, not removed.'}</Fault>
      <div className="row end">
        <button type="submit" className="primary" disabled={isBusy || isEmptied || !isTyped}>
          Save
        </button>
      </div>
    </form>
  );
}

interface FieldProps {
  readonly what: 'email' | 'phone';
  readonly has: boolean;
  readonly isConfirmed: boolean;
  readonly onConfirm: (what: 'email' | 'phone') => void;
  readonly children: ReactNode;
}

function Field({ what, has, isConfirmed, onConfirm, children }: FieldProps) {
  return (
    <div className="user-field">
      {children}
      {has &&
        (isConfirmed ? (
          <span className="badge on">confirmed</span>
        ) : (
          <button type="button" onClick={() => onConfirm(what)}>
            Confirm <span className="visually-hidden">{what}</span>
          </button>
        ))}
    </div>
  );
}

function Emails({ user, onAct, isBusy }: UserTabProps) {
  const { email } = user;
  if (email === '' || user.deleted_at !== undefined) return null;
  return (
    <div className="row">
      {isInvited(user) ? (
        <button
          type="button"
          disabled={isBusy}
          onClick={() => onAct(() => inviteUser(email), `Invitation sent again to ${email}.`)}
        >
          Resend invitation
        </button>
      ) : (
        <button
          type="button"
          disabled={isBusy}
          onClick={() => onAct(() => sendRecovery(user.id), `Password reset email sent to ${email}.`)}
        >
          Send password reset
        </button>
      )}
    </div>
  );
}

const periods = [
  ['1 hour', '1h'],
  ['1 day', '24h'],
  ['1 week', '168h'],
  ['30 days', '720h'],
  ['1 year', '8760h'],
  ['100 years', '876000h'],
] as const;

function DangerZone(props: UserTabProps & { readonly onDeleted: (sentence: string) => void }) {
  const { user, onAct, isBusy, onDeleted } = props;
  const [period, setPeriod] = useState<string>('24h');
  const [isDeleting, setDeleting] = useState(false);
  const ban = (duration: string, sentence: string) =>
    onAct(() => changeUser(user, { ban_duration: duration }), `${nameOf(user)} ${sentence}.`);
  return (
    <section className="stack danger-zone">
      <h3>Danger zone</h3>
      <div className="spread">
        {isBanned(user) ? (
          <>
            <span>Banned: cannot sign in</span>
            <button type="button" disabled={isBusy} onClick={() => ban('none', 'may sign in again')}>
              Unban
            </button>
          </>
        ) : (
          <>
            <label className="row">
              Ban for
              <select value={period} onChange={({ target }) => setPeriod(target.value)}>
                {periods.map(([title, duration]) => (
                  <option key={duration} value={duration}>
                    {title}
                  </option>
                ))}
              </select>
            </label>
            <button type="button" className="danger" disabled={isBusy} onClick={() => ban(period, 'is banned')}>
              Ban
            </button>
          </>
        )}
      </div>
      <div className="spread">
        <span>Delete the account</span>
        <button type="button" className="danger" onClick={() => setDeleting(true)}>
          Delete …
        </button>
      </div>
      {isDeleting && (
        <DeleteDialog
          user={user}
          onDeleted={() => onDeleted(`${nameOf(user)} was deleted.`)}
          onClose={() => setDeleting(false)}
        />
      )}
    </section>
  );
}

interface DeleteDialogProps {
  readonly user: StudioUser;
  readonly onDeleted: () => void;
  readonly onClose: () => void;
}

function DeleteDialog({ user, onDeleted, onClose }: DeleteDialogProps) {
  const [isSoft, setSoft] = useState(false);
  const remove = async () => {
    await askAuth(userPath(user.id), { method: 'DELETE', body: { should_soft_delete: isSoft } });
    onDeleted();
  };
  return (
    <ConfirmDialog title={`Delete ${nameOf(user)}?`} action="Delete user" onConfirm={remove} onClose={onClose}>
      <p>
        Deletes the account with its sessions, factors and identities. Rows in your tables that reference it follow the
        rules of their foreign keys. This cannot be undone.
      </p>
      <label className="switch">
        <input type="checkbox" checked={isSoft} onChange={({ target }) => setSoft(target.checked)} />
        Keep the ID, without personal data
      </label>
    </ConfirmDialog>
  );
}
