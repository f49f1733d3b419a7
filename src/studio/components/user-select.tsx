/**
 * The choice of one of the newest users.
 */
import { useAnswer } from '../shared/requests.ts';
import { listUsers, type StudioUser } from '../shared/users.ts';
import { Fault } from './problem.tsx';

interface UserSelectProps {
  readonly label: string;
  /** Id of the chosen user; null: none is. */
  readonly chosen: string | null;
  readonly onChoose: (user: StudioUser) => void;
}

/** Needs the service key. */
export function UserSelect({ label, chosen, onChoose }: UserSelectProps) {
  const { value, problem } = useAnswer('users', () => listUsers({ page: 1, size: 200, filter: '' }));
  return (
    <>
      <select
        aria-label={label}
        value={chosen ?? ''}
        onChange={({ target }) => {
          const user = value?.users.find(({ id }) => id === target.value);
          if (user !== undefined) onChoose(user);
        }}
      >
        <option value="" disabled>
          {value === null ? 'Loading …' : value.users.length === 0 ? 'No users yet' : 'Select a user'}
        </option>
        {value?.users.map(({ id, email, phone }) => (
          <option key={id} value={id}>
            {email || phone || id}
          </option>
        ))}
      </select>
      <Fault>{problem?.message}</Fault>
    </>
  );
}
