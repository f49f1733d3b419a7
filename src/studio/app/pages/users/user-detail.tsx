/** A user's account, and the operator's actions on it. */
import { type ReactNode, useState } from 'react';
import { CopyButton } from '../../components/copy-button.tsx';
import { DeliveryTable } from '../../components/delivery-table.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Link } from '../../components/link.tsx';
import { Moment } from '../../components/moment.tsx';
import { Fault, Problem, Waiting } from '../../components/problem.tsx';
import { listDeliveries } from '../../shared/deliveries.ts';
import { useAnswer, useTask } from '../../shared/requests.ts';
import { askAsOperator, useMayOperate } from '../../shared/session.ts';
import { askAuth, inviteUser, readUser, type StudioUser } from '../../shared/users.ts';
import { fullNameOf, isInvited, nameOf, stateOf } from './describe-user.ts';
import { type ListPlace, placeOf } from './place-of.ts';

/** @param next The user to show next; null: none. */
type SayDone = (sentence: string, next: string | null) => void;

interface UserDetailProps {
  readonly id: string;
  readonly place: ListPlace;
  readonly onDone: SayDone;
}

/** The user of an id. */
export function UserDetail({ id, place, onDone }: UserDetailProps) {
  const { value: user, problem, readAgain } = useAnswer(id, () => readUser(id));
  const task = useTask();
  if (user === null) {
    const isMissing = problem !== null && problem.status >= 400 && problem.status < 500;
    if (isMissing) return <Problem title="User not found">{problem.message}</Problem>;
    return <Waiting what="user" problem={problem} />;
  }
  const act = (work: () => Promise<unknown>, sentence: string): Promise<void> =>
    task.run(async () => {
      await work();
      onDone(sentence, id);
      readAgain();
    });
  return (
    <article className="user chosen" aria-labelledby="user-name">
      <Link className="to-list" to={placeOf(place, null)}>
        All users
      </Link>
      <header className="row">
        <h2 id="user-name">{nameOf(user)}</h2>
        <span className={stateOf(user).isUsual ? 'badge on' : 'badge changed'}>{stateOf(user).title}</span>
      </header>
      <Actions user={user} onAct={act} onDone={onDone} />
      <Fault>{(task.problem ?? problem)?.message}</Fault>
      <Facts user={user} />
      <Emails id={id} />
      <Metadata title="User metadata" data={user.user_metadata} />
      <Metadata title="App metadata" data={user.app_metadata} />
    </article>
  );
}

/** Emails that the user's page lists. */
const listedEmails = 5;

/** The latest emails to the user; nothing for operators who may not see them. */
function Emails({ id }: { readonly id: string }) {
  const mayOperate = useMayOperate();
  const { value } = useAnswer(mayOperate ? `emails ${id}` : null, (signal) =>
    listDeliveries(`user=${id}&limit=${listedEmails}`, signal),
  );
  if (value === null || value.length === 0) return null;
  return (
    <section className="stack">
      <h3>Emails</h3>
      <DeliveryTable deliveries={value} label="Emails to this user" isOfOneUser />
      <Link to={`deliveries?user=${id}`}>All emails to this user</Link>
    </section>
  );
}

interface ActionsProps {
  readonly user: StudioUser;
  readonly onAct: (run: () => Promise<unknown>, sentence: string) => Promise<void>;
  readonly onDone: SayDone;
}

function Actions({ user, onAct, onDone }: ActionsProps) {
  const mayOperate = useMayOperate();
  const [isDeleting, setDeleting] = useState(false);
  const { id, email } = user;
  const signOut = () => askAsOperator('/studio/sign-out', { method: 'POST', body: { user: id } });
  return (
    <div className="row">
      {isInvited(user) ? (
        <button type="button" onClick={() => onAct(() => inviteUser(email), `Invitation sent again to ${email}.`)}>
          Resend invitation
        </button>
      ) : (
        <button
          type="button"
          disabled={email === ''}
          title={email === '' ? 'The user has no email address.' : undefined}
          onClick={() =>
            onAct(
              () => askAuth('recover', { method: 'POST', body: { email } }),
              `Password reset email sent to ${email}.`,
            )
          }
        >
          Send password reset
        </button>
      )}
      <button
        type="button"
        disabled={!mayOperate}
        title={mayOperate ? undefined : 'Needs an access token with the scope project:operate.'}
        onClick={() => onAct(signOut, `${nameOf(user)} was signed out everywhere.`)}
      >
        Sign out everywhere
      </button>
      <button type="button" className="danger" onClick={() => setDeleting(true)}>
        Delete …
      </button>
      {isDeleting && (
        <DeleteDialog
          user={user}
          onDeleted={() => onDone(`${nameOf(user)} was deleted.`, null)}
          onClose={() => setDeleting(false)}
        />
      )}
    </div>
  );
}

function Facts({ user }: { readonly user: StudioUser }) {
  const providers = [...new Set(user.identities.map(({ provider }) => provider))].join(', ');
  const factors = (user.factors ?? []).filter(({ status }) => status === 'verified');
  const rows = [
    ['Name', fullNameOf(user)],
    ['Email', user.email || null],
    ['Phone', user.phone || null],
    ['Role', user.role],
    ['Sign-in methods', providers || null],
    ['Second factors', factors.map(({ factor_type: type }) => type).join(', ') || 'none'],
  ] as const;
  const times = [
    ['Created', user.created_at],
    ['Invited', user.invited_at],
    ['Confirmed', user.confirmed_at],
    ['Last sign-in', user.last_sign_in_at],
    ['Banned until', user.banned_until],
    ['Deleted', user.deleted_at],
  ] as const;
  return (
    <dl>
      <dt>ID</dt>
      <dd className="row">
        <code>{user.id}</code> <CopyButton text={user.id} what="the ID" />
      </dd>
      {rows.map(([title, text]) => text !== null && <Fact key={title} title={title} text={text} />)}
      {times.map(
        ([title, time]) => time !== undefined && <Fact key={title} title={title} text={<Moment at={time} />} />,
      )}
    </dl>
  );
}

function Fact({ title, text }: { readonly title: string; readonly text: ReactNode }) {
  return (
    <>
      <dt>{title}</dt>
      <dd>{text}</dd>
    </>
  );
}

function Metadata({ title, data }: { readonly title: string; readonly data: Readonly<Record<string, unknown>> }) {
  if (Object.keys(data).length === 0) return null;
  return (
    <section className="stack">
      <h3>{title}</h3>
      <pre className="source">{JSON.stringify(data, null, 2)}</pre>
    </section>
  );
}

interface DeleteDialogProps {
  readonly user: StudioUser;
  readonly onDeleted: () => void;
  readonly onClose: () => void;
}

function DeleteDialog({ user, onDeleted, onClose }: DeleteDialogProps) {
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
