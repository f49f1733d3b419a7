/**
 * The choice of who asks.
 */
import { useEffect, useId, useState } from 'react';
import { ApiError } from '../../shared/api.ts';
import { apiKeys } from '../../shared/keys.ts';
import { session } from '../../shared/session.ts';
import { useStore } from '../../shared/store.ts';
import { listNewestUsers, type StudioUser } from '../../shared/users.ts';
import type { Caller } from './caller.ts';

interface CallerChoiceProps {
  readonly caller: Caller;
  readonly onChoose: (caller: Caller) => void;
}

const kinds = [
  { kind: 'anon', title: 'Anon' },
  { kind: 'user', title: 'User' },
  { kind: 'service', title: 'Service' },
] as const;

/** The role, and which user. */
export function CallerChoice({ caller, onChoose }: CallerChoiceProps) {
  const { service } = useStore(apiKeys);
  const now = useStore(session);
  const mayOperate = now.kind !== 'none' && now.project.mayOperate;
  const unavailable = { anon: false, user: service === '' || !mayOperate, service: service === '' };
  const name = useId();
  return (
    <div className="row">
      <fieldset className="segments">
        <legend className="visually-hidden">Run as</legend>
        {kinds.map(({ kind, title }) => (
          <label key={kind}>
            <input
              type="radio"
              name={name}
              checked={caller.kind === kind}
              disabled={unavailable[kind]}
              onChange={() => onChoose(kind === 'user' ? { kind, userId: null } : { kind })}
            />
            <span>{title}</span>
          </label>
        ))}
      </fieldset>
      {caller.kind === 'user' && (
        <UserSelect chosen={caller.userId} onChoose={(userId) => onChoose({ kind: 'user', userId })} />
      )}
    </div>
  );
}

interface UserSelectProps {
  readonly chosen: string | null;
  readonly onChoose: (userId: string) => void;
}

function UserSelect({ chosen, onChoose }: UserSelectProps) {
  const [users, setUsers] = useState<readonly StudioUser[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    listNewestUsers().then(setUsers, (error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      setProblem(error.message);
    });
  }, []);
  if (problem !== null) return <span className="fault">{problem}</span>;
  return (
    <select
      className="user-select"
      aria-label="User"
      value={chosen ?? ''}
      onChange={({ target }) => onChoose(target.value)}
    >
      <option value="" disabled>
        {users === null ? 'Loading …' : users.length === 0 ? 'No users yet' : 'Select a user'}
      </option>
      {users?.map((user) => (
        <option key={user.id} value={user.id}>
          {user.email || user.phone || user.id}
        </option>
      ))}
    </select>
  );
}
