/**
 * The choice of who asks.
 */
import { useId } from 'react';
import { UserSelect } from '../../components/user-select.tsx';
import { apiKeys } from '../../shared/keys.ts';
import { useMayOperate } from '../../shared/session.ts';
import { useStore } from '../../shared/store.ts';
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
  const mayOperate = useMayOperate();
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
        <UserSelect label="User" chosen={caller.userId} onChoose={({ id }) => onChoose({ kind: 'user', userId: id })} />
      )}
    </div>
  );
}
