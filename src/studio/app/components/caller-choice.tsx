/** Chooses as whom operations run: anon, a user, or the service role. */
import type { Caller } from '../shared/caller.ts';
import { session } from '../shared/session.ts';
import { useStore } from '../shared/store.ts';
import { Choice } from './choice.tsx';
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
        <UserSelect label="User" chosen={caller.userId} onChoose={({ id }) => onChoose({ kind: 'user', userId: id })} />
      )}
    </div>
  );
}
