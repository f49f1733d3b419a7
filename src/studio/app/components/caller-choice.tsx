/** Chooses as whom operations run: anon, the role of users without or with one of them, or the service role. */
import type { Caller } from '../shared/caller.ts';
import { useAnswer } from '../shared/requests.ts';
import { session } from '../shared/session.ts';
import { useStore } from '../shared/store.ts';
import { findUsers } from '../shared/users.ts';
import { Choice } from './choice.tsx';
import { Link } from './link.tsx';
import { UserSelect } from './user-select.tsx';

interface CallerChoiceProps {
  readonly caller: Caller;
  readonly onChoose: (caller: Caller) => void;
}

/** The choice; nothing while nobody is signed in. */
export function CallerChoice({ caller, onChoose }: CallerChoiceProps) {
  const now = useStore(session);
  if (now.kind === 'none') return null;
  const { roles } = now.project;
  const options = [
    { name: 'anon', title: roles.anon },
    { name: 'authenticated', title: roles.authenticated },
    { name: 'user', title: 'User' },
    { name: 'service', title: roles.service },
  ] as const;
  return (
    <div className="row">
      <Choice
        label="Run as"
        options={options}
        chosen={caller.kind}
        onChoose={(kind) => onChoose(kind === 'user' ? { kind, userId: null } : { kind })}
      />
      {caller.kind === 'user' && (
        <UserChoice chosen={caller.userId} onChoose={(userId) => onChoose({ kind: 'user', userId })} />
      )}
    </div>
  );
}

interface UserChoiceProps {
  readonly chosen: string | null;
  readonly onChoose: (userId: string) => void;
}

/** A field to find a user, where there are some. */
function UserChoice({ chosen, onChoose }: UserChoiceProps) {
  const { value: first } = useAnswer(chosen === null ? 'first' : null, (signal) =>
    findUsers({ per_page: '1' }, signal),
  );
  if (chosen === null && first?.users.length === 0) {
    return (
      <span className="small">
        No users yet: <Link to="users">create one</Link>, or run as the role alone.
      </span>
    );
  }
  return <UserSelect label="User" chosen={chosen} onChoose={({ id }) => onChoose(id)} />;
}
