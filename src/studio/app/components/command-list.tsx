/** What the command palette lists: pages and commands, found by words of their names. */
import { Autocomplete } from '@base-ui/react/autocomplete';
import { use, useEffect, useMemo } from 'react';
import { loadSettingsCommands, menuParts, studioPages } from '../pages.tsx';
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

const settings = loadSettingsCommands();

interface CommandListProps {
  /** Attributes of the field. */
  readonly field: Readonly<Record<string, string>>;
  readonly text: string;
  /** Enter was pressed before the list was there. */
  readonly isEntered: boolean;
  readonly onType: (text: string) => void;
  /** Called before a command runs. */
  readonly onDone: () => void;
}

/** The field and the list. */
export function CommandList({ field, text, isEntered, onType, onDone }: CommandListProps) {
  const shown = useStore(shownCommands);
  const settingsCommands = use(settings);
  const parts = useMemo(() => {
    const wanted = text.trim();
    const found = wanted === '' ? [] : [...settingsCommands, ...placesOf(wanted)];
    return partsOf([...shown.flat(), ...always, ...found]);
  }, [shown, settingsCommands, text]);
  const run = (command: Command): void => {
    onDone();
    command.run();
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, with what was typed by then
  useEffect(() => {
    const first = parts.flatMap(({ items }) => items).find((command) => isFound(command, text));
    if (isEntered && first !== undefined) run(first);
  }, []);
  return (
    <Autocomplete.Root
      open
      inline
      items={parts}
      value={text}
      onValueChange={onType}
      autoHighlight="always"
      keepHighlight
      filter={(command: Command, wanted) => isFound(command, wanted)}
      itemToStringValue={({ title }: Command) => title}
    >
      <Autocomplete.Input {...field} autoFocus spellCheck={false} />
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
                  onClick={() => run(command)}
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
  if (/^[^\s@]+@\S+$/.test(text)) return [place('user of address', 'Users with', `users?search=${given}`)];
  const request = requestId.test(text) ? [place('request', 'Request', `logs?request=${given}`)] : [];
  return uuid.test(text) ? [...request, place('user', 'User', `users/${text.toLowerCase()}`)] : request;
}

function partsOf(commands: readonly Command[]): readonly Part[] {
  return [...Map.groupBy(commands, ({ part }) => part)].map(([value, items]) => ({ value, items }));
}

/** What a word stands behind: those of names in SQL, too. */
const starts = [' ', '.', '_', '"'];

/** Each word that is wanted begins a word of it: `OrderLine` has two, and `public.order_line` three. */
function isFound({ title, part, words = '' }: Command, wanted: string): boolean {
  const all = ` ${title} ${title.replace(/(?<=[a-z])(?=[A-Z])/g, ' ')} ${part} ${words}`.toLowerCase();
  return wanted
    .trim()
    .toLowerCase()
    .split(/\s+/)
    .every((word) => starts.some((start) => all.includes(`${start}${word}`)));
}
