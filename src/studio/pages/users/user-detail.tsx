/**
 * A user: the account, and what an operator does for it.
 */
import { useCallback, useEffect, useState } from 'react';
import { CopyButton } from '../../components/copy-button.tsx';
import { Problem } from '../../components/problem.tsx';
import { ApiError, isServerThere } from '../../shared/api.ts';
import { addressOf, followLink } from '../../shared/router.ts';
import { session } from '../../shared/session.ts';
import { useStore } from '../../shared/store.ts';
import { inviteUser, readUser, type StudioUser, sendRecovery, signOutUser } from '../../shared/users.ts';
import { DeleteDialog } from './delete-dialog.tsx';
import { fullNameOf, isInvited, nameOf, stateOf } from './describe-user.ts';
import { type ListPlace, placeOf } from './place-of.ts';

/** @param next The user who is shown from then on; null: none. */
export type SayDone = (sentence: string, next: string | null) => void;

interface UserDetailProps {
  readonly id: string;
  readonly place: ListPlace;
  /** Called when something was done. */
  readonly onDone: SayDone;
}

/** The user of an id. */
export function UserDetail({ id, place, onDone }: UserDetailProps) {
  const [user, setUser] = useState<StudioUser | null>(null);
  const [problem, setProblem] = useState<ApiError | null>(null);
  const isThere = useStore(isServerThere);
  const fail = useCallback((error: unknown): void => {
    if (!(error instanceof ApiError)) throw error;
    setProblem(error);
  }, []);
  const read = useCallback(async () => {
    try {
      setUser(await readUser(id));
      setProblem(null);
    } catch (error) {
      fail(error);
    }
  }, [id, fail]);
  useEffect(() => {
    if (isThere) void read();
  }, [read, isThere]);
  if (user === null) {
    if (problem === null) return <p className="loading">Loading user …</p>;
    const isMissing = problem.status >= 400 && problem.status < 500;
    const title = isMissing ? 'User not found' : 'The user could not be loaded';
    return <Problem title={title}>{problem.message}</Problem>;
  }
  const act = async (run: () => Promise<unknown>, sentence: string): Promise<void> => {
    setProblem(null);
    try {
      await run();
      onDone(sentence, id);
      await read();
    } catch (error) {
      fail(error);
    }
  };
  const back = placeOf(place, null);
  return (
    <article className="user" aria-labelledby="user-name">
      <a className="to-list" href={addressOf(back)} onClick={followLink(back)}>
        All users
      </a>
      <header className="row">
        <h2 id="user-name">{nameOf(user)}</h2>
        <span className={stateOf(user).isUsual ? 'badge on' : 'badge changed'}>{stateOf(user).title}</span>
      </header>
      <Actions user={user} onAct={act} onDone={onDone} />
      <p className="fault" role="alert">
        {problem?.message}
      </p>
      <Facts user={user} />
      <Metadata title="User metadata" data={user.user_metadata} />
      <Metadata title="App metadata" data={user.app_metadata} />
    </article>
  );
}

interface ActionsProps {
  readonly user: StudioUser;
  readonly onAct: (run: () => Promise<unknown>, sentence: string) => Promise<void>;
  readonly onDone: SayDone;
}

function Actions({ user, onAct, onDone }: ActionsProps) {
  const now = useStore(session);
  const [isDeleting, setDeleting] = useState(false);
  const { id, email } = user;
  const mayOperate = now.kind !== 'none' && now.project.mayOperate;
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
          onClick={() => onAct(() => sendRecovery(email), `Password reset email sent to ${email}.`)}
        >
          Send password reset
        </button>
      )}
      <button
        type="button"
        disabled={!mayOperate}
        title={mayOperate ? undefined : 'Needs an access token with the scope project:operate.'}
        onClick={() => onAct(() => signOutUser(id), `${nameOf(user)} was signed out everywhere.`)}
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

const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

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
        ([title, time]) =>
          time !== undefined && <Fact key={title} title={title} text={moment.format(new Date(time))} />,
      )}
    </dl>
  );
}

function Fact({ title, text }: { readonly title: string; readonly text: string }) {
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
