/** What the command palette offers beside the pages: the commands of what is shown now. */
import { useEffect } from 'react';
import { createStore, type Store } from './store.ts';

/** A command. */
export interface Command {
  /** Unique: `table public.product`. */
  readonly id: string;
  readonly title: string;
  /** The heading below which it stands. */
  readonly part: string;
  /** Other words by which it is found. */
  readonly words?: string;
  readonly run: () => void;
}

/** Those of the components that are shown. */
export const shownCommands: Store<readonly (readonly Command[])[]> = createStore<readonly (readonly Command[])[]>([]);

/** Hook: offers commands while the component is shown. @param commands The same array until they change. */
export function useCommands(commands: readonly Command[]): void {
  useEffect(() => {
    shownCommands.set([...shownCommands.get(), commands]);
    return () => shownCommands.set(shownCommands.get().filter((others) => others !== commands));
  }, [commands]);
}
