/** How a shell calls pgreflect for this project: whoever is not signed in learns the folder on the machine of a local project alone. */
import { useEffect } from 'react';
import { ask } from './api.ts';
import { session } from './session.ts';
import { createStore, type Store, useStore } from './store.ts';

/** Where commands are typed. */
interface Shell {
  /** A project of `pgreflect start`. */
  readonly isLocal: boolean;
  /** What they begin with; null: not told. */
  readonly shellCall: string | null;
}

const entry: Store<Shell | null> = createStore<Shell | null>(null);

/** Hook: null until it is known. */
export function useShell(): Shell | null {
  const now = useStore(session);
  const told = useStore(entry);
  const isStranger = now.kind === 'none';
  useEffect(() => {
    if (!isStranger || entry.get() !== null) return;
    ask<Shell>('/studio/entry').then(
      ({ body }) => entry.set(body),
      () => entry.set({ isLocal: false, shellCall: null }),
    );
  }, [isStranger]);
  return isStranger ? told : now.project;
}
