/** The Users page: the accounts, and the operator's actions on them. */
import './users.css';
import { useId, useState } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { KeysForm } from '../../components/keys-form.tsx';
import { Empty, Fault, Waiting } from '../../components/problem.tsx';
import { apiKeys } from '../../shared/keys.ts';
import { type Answer, onSubmit, useAnswer, useTask } from '../../shared/requests.ts';
import { goTo, usePlace } from '../../shared/router.ts';
import { useStore } from '../../shared/store.ts';
import { inviteUser, listUsers, type StudioUser, type UserPage } from '../../shared/users.ts';
import { type ListPlace, placeOf, readListPlace } from './place-of.ts';
import { UserDetail } from './user-detail.tsx';
import { lastPage, pageSize, UserList } from './user-list.tsx';

/** The page. */
export function UsersPage() {
  const { service, refusal } = useStore(apiKeys);
  return service === '' ? <AskForKeys refusal={refusal ?? null} /> : <Users key={service} />;
}

function Users() {
  const { segments, query } = usePlace();
  const place = readListPlace(query);
  const id = segments[1] ?? null;
  const { value: list, problem, readAgain } = useUsers(place, id);
  const [isInviting, setInviting] = useState(false);
  const [said, setSaid] = useState('');
  if (list === null) return <Waiting what="users" problem={problem} />;
  const done = (sentence: string, next: string | null): void => {
    setSaid(sentence);
    if (next !== id) goTo(placeOf(place, next));
    readAgain();
  };
  const invited = (user: StudioUser): void => {
    setInviting(false);
    done(`Invitation sent to ${user.email}.`, user.id);
  };
  const hasUsers = list.total > 0 || place.filter !== '' || id !== null;
  const invite = (
    <button type="button" className="primary" onClick={() => setInviting(true)}>
      Invite user
    </button>
  );
  return (
    <>
      <header className="page-head">
        <div className="row">
          <h1>Users</h1>
          <span className="badge" role="status">
            {list.total === 1 ? '1 user' : `${list.total} users`}
          </span>
        </div>
        {hasUsers && invite}
      </header>
      <div role="status">{said !== '' && <p className="notice good">{said}</p>}</div>
      <div role="alert">
        {problem !== null && problem.status !== 0 && (
          <p className="notice fault">The list is out of date: {problem.message}</p>
        )}
      </div>
      {hasUsers ? (
        <div className="split" data-open={id !== null}>
          <UserList list={list} place={place} chosen={id} />
          {id === null ? (
            <div className="empty unchosen">
              <p>Select a user to see the account.</p>
            </div>
          ) : (
            <UserDetail key={id} id={id} place={place} onDone={done} />
          )}
        </div>
      ) : (
        <Empty title="No users yet">
          <p>Users appear here when they sign up in your application, or when you invite them.</p>
          {invite}
        </Empty>
      )}
      {isInviting && <InviteDialog onInvited={invited} onClose={() => setInviting(false)} />}
    </>
  );
}

function AskForKeys({ refusal }: { readonly refusal: string | null }) {
  return (
    <div className="keys-page stack">
      <h1>Project API keys</h1>
      <p>Managing users needs the service key.</p>
      {refusal !== null && (
        <Fault>
          The service key was refused: {refusal}. Check that it is the service key of this project, not the anon key.
        </Fault>
      )}
      <KeysForm />
    </div>
  );
}

/** The part of the list in the address. */
function useUsers({ page, filter }: ListPlace, id: string | null): Answer<UserPage> {
  return useAnswer(`${page} ${filter}`, async (signal) => {
    const found = await listUsers({ page, filter, size: pageSize });
    // Users were deleted meanwhile, or the address was edited by hand.
    const last = lastPage(found);
    if (page > last && !signal.aborted) goTo(placeOf({ page: last, filter }, id), { replace: true });
    return found;
  });
}

interface InviteDialogProps {
  readonly onInvited: (user: StudioUser) => void;
  readonly onClose: () => void;
}

function InviteDialog({ onInvited, onClose }: InviteDialogProps) {
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
