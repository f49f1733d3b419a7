/** The command palette: pages and commands by a part of their names. Ctrl-K or Command-K opens it. */
import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { useEffect, useMemo } from 'react';
import { menuParts, studioPages } from '../pages.tsx';
import { type Command, shownCommands } from '../shared/commands.ts';
import { goTo } from '../shared/router.ts';
import { signOut } from '../shared/session.ts';
import { createStore, type Store, useStore } from '../shared/store.ts';
import { theme, themes } from '../shared/theme.ts';
import './command-palette.css';

/** Whether it is open. */
export const isPaletteOpen: Store<boolean> = createStore(false);

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

/** The palette; nothing while it is closed. */
export function CommandPalette() {
  const isOpen = useStore(isPaletteOpen);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (!((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k')) return;
      event.preventDefault();
      isPaletteOpen.set(!isPaletteOpen.get());
    };
    // Before the editors, which have a meaning of their own for it.
    addEventListener('keydown', onKey, { capture: true });
    return () => removeEventListener('keydown', onKey, { capture: true });
  }, []);
  return (
    <Dialog.Root open={isOpen} onOpenChange={isPaletteOpen.set}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Viewport className="dialog-place palette-place">
          <Dialog.Popup className="dialog palette" aria-label="Go to or run">
            <Commands />
          </Dialog.Popup>
        </Dialog.Viewport>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Commands() {
  const shown = useStore(shownCommands);
  const parts = useMemo(() => partsOf([...shown.flat(), ...always]), [shown]);
  return (
    <Autocomplete.Root
      open
      inline
      items={parts}
      autoHighlight="always"
      keepHighlight
      filter={(command: Command, wanted) => isFound(command, wanted)}
      itemToStringValue={({ title }: Command) => title}
    >
      <Autocomplete.Input className="palette-input" placeholder="Go to or run …" aria-label="Go to or run" />
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
                    isPaletteOpen.set(false);
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
