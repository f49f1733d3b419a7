/** A select of one of the newest users. */
import { useAnswer } from '../shared/requests.ts';
import { newestUsers, type StudioUser } from '../shared/users.ts';
import { Fault } from './problem.tsx';

interface UserSelectProps {
  readonly label: string;
  /** Id of the selected user; null: none. */
  readonly chosen: string | null;
  readonly onChoose: (user: StudioUser) => void;
}

/** Needs the service key or the scope `project:operate`. */
export function UserSelect({ label, chosen, onChoose }: UserSelectProps) {
  const { value, problem } = useAnswer('users', newestUsers);
  return (
    <>
      <select
        aria-label={label}
        value={chosen ?? ''}
        onChange={({ target }) => {
          const user = value?.find(({ id }) => id === target.value);
          if (user !== undefined) onChoose(user);
        }}
      >
        <option value="" disabled>
          {value === null ? 'Loading …' : value.length === 0 ? 'No users yet' : 'Select a user'}
        </option>
        {value?.map(({ id, email, phone }) => (
          <option key={id} value={id}>
            {email || phone || id}
          </option>
        ))}
      </select>
      <Fault>{problem?.message}</Fault>
    </>
  );
}
