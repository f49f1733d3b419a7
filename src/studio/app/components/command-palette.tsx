/** The command palette: pages and commands by a part of their names. Ctrl-K or Command-K opens it. */
import { Dialog } from '@base-ui/react/dialog';
import { lazy, Suspense, useEffect, useState } from 'react';
import { createStore, type Store, useStore } from '../shared/store.ts';
import { FaultBoundary } from './fault-boundary.tsx';
import './command-palette.css';

/** Whether it is open. */
export const isPaletteOpen: Store<boolean> = createStore(false);

const load = () => import('./command-list.tsx');

/** Loaded when it is wanted: it is a fifth of the code of the first page. */
const CommandList = lazy(async () => ({ default: (await load()).CommandList }));

/** The palette; nothing while it is closed. */
export function CommandPalette() {
  const isOpen = useStore(isPaletteOpen);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      // Before its second key.
      if (event.key === 'Control' || event.key === 'Meta') void load().catch(() => {});
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
            <FaultBoundary>
              <Typed />
            </FaultBoundary>
          </Dialog.Popup>
        </Dialog.Viewport>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

const takeKeyboard = (field: HTMLInputElement | null): void => field?.focus();

/** The list, and until its code is there a field: what is typed at once is looked for, and after Enter the first that is found runs. */
function Typed() {
  const [text, setText] = useState('');
  const [isEntered, setEntered] = useState(false);
  const field = { className: 'palette-input', placeholder: 'Go to or run …', 'aria-label': 'Go to or run' };
  const waiting = (
    <input
      {...field}
      ref={takeKeyboard}
      spellCheck={false}
      value={text}
      onChange={({ target }) => setText(target.value)}
      onKeyDown={({ key }) => key === 'Enter' && setEntered(text !== '')}
    />
  );
  return (
    <Suspense fallback={waiting}>
      <CommandList {...{ field, text, isEntered }} onType={setText} onDone={() => isPaletteOpen.set(false)} />
    </Suspense>
  );
}
