/** What the command palette lists: pages and commands, found by words of their names. */
import { Autocomplete } from '@base-ui/react/autocomplete';
import { useEffect, useMemo, useRef, useState } from 'react';
import { menuParts, studioPages } from '../pages.tsx';
import { type Command, shownCommands } from '../shared/commands.ts';
import { goTo } from '../shared/router.ts';
import { signOut } from '../shared/session.ts';
import { useStore } from '../shared/store.ts';
import { theme, themes } from '../shared/theme.ts';

interface Part {
  readonly value: string;
  readonly items: readonly Command[];
}

/** Everywhere the same. */
const always: readonly Command[] = [
  ...studioPages.map(({ path, title, part, words }) => ({
    id: `page ${path}`,
    title,
    part: part === '' ? menuParts[1] : part,
    ...(words !== undefined && { words }),
    run: () => goTo(path),
  })),
  ...themes.map((name) => ({
    id: `theme ${name}`,
    title: `Theme: ${name}`,
    part: 'Studio',
    words: 'dark light',
    run: () => theme.set(name),
  })),
  { id: 'sign out', title: 'Sign out', part: 'Studio', words: 'leave', run: signOut },
];

/** The field and the list. @param props.onDone Called before a command runs. */
export function CommandList({ onDone }: { readonly onDone: () => void }) {
  const shown = useStore(shownCommands);
  const [wanted, setWanted] = useState('');
  const parts = useMemo(() => partsOf([...shown.flat(), ...always, ...placesOf(wanted.trim())]), [shown, wanted]);
  const field = useRef<HTMLInputElement>(null);
  // The dialog is there before this code, and took the focus.
  useEffect(() => field.current?.focus(), []);
  return (
    <Autocomplete.Root
      open
      inline
      items={parts}
      value={wanted}
      onValueChange={setWanted}
      autoHighlight="always"
      keepHighlight
      filter={(command: Command, wanted) => isFound(command, wanted)}
      itemToStringValue={({ title }: Command) => title}
    >
      <Autocomplete.Input
        ref={field}
        className="palette-input"
        placeholder="Go to or run …"
        aria-label="Go to or run"
      />
      <Autocomplete.Empty className="palette-empty">Nothing has this name.</Autocomplete.Empty>
      <Autocomplete.List className="palette-list">
        {({ value, items }: Part) => (
          <Autocomplete.Group key={value} items={[...items]}>
            <Autocomplete.GroupLabel className="palette-part">{value}</Autocomplete.GroupLabel>
            <Autocomplete.Collection>
              {(command: Command) => (
                <Autocomplete.Item
                  key={command.id}
                  value={command}
                  className="palette-item"
                  onClick={() => {
                    onDone();
                    command.run();
                  }}
                >
                  {command.title}
                </Autocomplete.Item>
              )}
            </Autocomplete.Collection>
          </Autocomplete.Group>
        )}
      </Autocomplete.List>
    </Autocomplete.Root>
  );
}

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
/** As clients may name requests, with what no word of a command has. */
const requestId = /^(?=.*[\d:._/+=-])[A-Za-z0-9][\w:./+=-]{5,127}$/;

/** What an id or an address may be of. */
function placesOf(text: string): readonly Command[] {
  const place = (kind: string, words: string, path: string): Command => ({
    id: kind,
    title: `${words} ${text}`,
    part: 'Go to',
    run: () => goTo(path),
  });
  const given = encodeURIComponent(text);
  if (/^\S+@\S+$/.test(text)) return [place('user of address', 'Users with', `users?search=${given}`)];
  const request = requestId.test(text) ? [place('request', 'Request', `logs?request=${given}`)] : [];
  return uuid.test(text) ? [...request, place('user', 'User', `users/${text.toLowerCase()}`)] : request;
}

function partsOf(commands: readonly Command[]): readonly Part[] {
  return [...Map.groupBy(commands, ({ part }) => part)].map(([value, items]) => ({ value, items }));
}

/** Each word that is wanted begins a word of it; `OrderLine` has two. */
function isFound({ title, part, words = '' }: Command, wanted: string): boolean {
  const all = ` ${title} ${title.replace(/(?<=[a-z])(?=[A-Z])/g, ' ')} ${part} ${words}`.toLowerCase();
  return wanted
    .trim()
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(` ${word}`));
}
