/** Isolates the fault of one part of the studio. Code that could not be loaded is loaded again when the server is back. */
import { Component, type ReactNode, useEffect, useState } from 'react';
import { ask, outage } from '../shared/api.ts';
import { useStore } from '../shared/store.ts';
import { Problem } from './problem.tsx';

interface FaultBoundaryProps {
  readonly children: ReactNode;
}

/** Give it a `key` per page. */
export class FaultBoundary extends Component<FaultBoundaryProps, { readonly fault: unknown }> {
  override readonly state: { readonly fault: unknown } = { fault: null };

  static getDerivedStateFromError(fault: unknown): { readonly fault: unknown } {
    return { fault };
  }

  override render(): ReactNode {
    const { fault } = this.state;
    if (fault === null) return this.props.children;
    return notLoaded.has(fault as object) ? <LostCode /> : <Failed />;
  }
}

/** Errors of files that could not be loaded. */
const notLoaded = new WeakSet<object>();
addEventListener('vite:preloadError', (event) => notLoaded.add((event as Event & { readonly payload: Error }).payload));

/** Loads the page again as soon as there is a server: the browser keeps the failure of what it could not load. */
function LostCode() {
  const isAway = useStore(outage) !== null;
  const [isInVain, setInVain] = useState(false);
  useEffect(() => {
    if (isAway) return;
    // Fails if it is away, which the notice above the page then says.
    const looking = ask('/health').then(() => {
      if (mayReload()) location.reload();
      else setInVain(true);
    });
    looking.catch(() => {});
  }, [isAway]);
  return isInVain ? <Failed /> : <OpensSoon />;
}

/** Stands for a page that waits for the server. */
export function OpensSoon() {
  return <p className="loading">The page opens as soon as requests can be answered.</p>;
}

const storageName = 'pgreflect:reloaded';
const rarelyMs = 10_000;

/** A file that is missing on the server would be asked for again and again. */
function mayReload(): boolean {
  const last = Number(sessionStorage.getItem(storageName) ?? 0);
  sessionStorage.setItem(storageName, String(Date.now()));
  return Date.now() - last > rarelyMs;
}

function Failed() {
  return (
    <Problem title="This page failed to load">
      <button type="button" onClick={() => location.reload()}>
        Reload
      </button>
    </Problem>
  );
}
