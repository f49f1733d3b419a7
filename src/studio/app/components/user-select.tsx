/** A field that finds a user by any part of address, number, name or id, among all users of the project. */
import { Combobox } from '@base-ui/react/combobox';
import { useEffect, useState } from 'react';
import { useAnswer } from '../shared/requests.ts';
import { findUsers, readUser, type StudioUser } from '../shared/users.ts';
import './user-select.css';

interface UserSelectProps {
  readonly label: string;
  /** Id of the selected user; null: none. */
  readonly chosen: string | null;
  readonly onChoose: (user: StudioUser) => void;
}

/** How long typing rests before the search. */
const restMs = 200;
const listed = '20';

/** Needs the scope `project:operate`. */
export function UserSelect({ label, chosen, onChoose }: UserSelectProps) {
  const [isOpen, setOpen] = useState(false);
  const [text, setText] = useState('');
  const search = useRested(text.trim());
  const { value: known } = useAnswer(chosen, () => readUser(chosen ?? ''));
  const selected = known !== null && known.id === chosen ? known : null;
  // The text of the selected user is no search.
  const wanted = selected !== null && search === titleOf(selected) ? '' : search;
  const { value: found, problem } = useAnswer(isOpen ? `users ${wanted}` : null, async (signal) => ({
    wanted,
    ...(await findUsers({ per_page: listed, ...(wanted !== '' && { search: wanted }) }, signal)),
  }));
  const users = found?.users ?? [];
  const isSearching = text.trim() !== search || found === null || found.wanted !== wanted;
  const status = problem?.message ?? (isSearching ? 'Searching …' : users.length === 0 ? 'No user found.' : null);
  return (
    <Combobox.Root
      items={users}
      filter={null}
      value={selected}
      open={isOpen}
      onOpenChange={setOpen}
      onInputValueChange={setText}
      itemToStringLabel={titleOf}
      isItemEqualToValue={(one: StudioUser, other: StudioUser) => one.id === other.id}
      onValueChange={(user: StudioUser | null) => user !== null && onChoose(user)}
    >
      <Combobox.Input className="user-select" aria-label={label} placeholder="Select a user" spellCheck={false} />
      <Combobox.Portal>
        <Combobox.Positioner className="user-select-place" sideOffset={4} align="start">
          <Combobox.Popup className="user-select-popup">
            <Combobox.Status className="user-select-status">{status}</Combobox.Status>
            <Combobox.List className="user-select-list">
              {(user: StudioUser) => (
                <Combobox.Item key={user.id} value={user} className="user-select-item" title={titleOf(user)}>
                  {titleOf(user)}
                </Combobox.Item>
              )}
            </Combobox.List>
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  );
}

function titleOf({ email, phone, id }: StudioUser): string {
  return email || phone || id;
}

/** The text once typing rests. */
function useRested(text: string): string {
  const [rested, setRested] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), restMs);
    return () => clearTimeout(timer);
  }, [text]);
  return rested;
}
