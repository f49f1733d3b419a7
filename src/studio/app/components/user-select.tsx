/** A field that finds a user by any part of address, number, name or id, among all users of the project. */
import { useAnswer } from '../shared/requests.ts';
import { findUsers, readUser, type StudioUser } from '../shared/users.ts';
import { listedAtMost, SearchSelect } from './search-select.tsx';

interface UserSelectProps {
  readonly label: string;
  /** Id of the selected user; null: none. */
  readonly chosen: string | null;
  readonly onChoose: (user: StudioUser) => void;
}

/** Needs the scope `project:operate`. */
export function UserSelect({ label, chosen, onChoose }: UserSelectProps) {
  const { value: known } = useAnswer(chosen, () => readUser(chosen ?? ''));
  return (
    <SearchSelect
      label={label}
      placeholder="Select a user"
      nothing="No user found."
      chosen={known !== null && known.id === chosen ? known : null}
      keyOf={({ id }) => id}
      titleOf={({ email, phone, id }) => email || phone || id}
      find={async (search, signal) =>
        (await findUsers({ per_page: String(listedAtMost), ...(search !== '' && { search }) }, signal)).users
      }
      onChoose={onChoose}
    />
  );
}
