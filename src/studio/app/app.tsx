/** The frame of the studio: menu, page, and what replaces it while the user is signed out or the server away. */
import { Component, type ReactNode, Suspense, use, useEffect, useRef } from 'react';
import { Link } from './components/link.tsx';
import { Problem } from './components/problem.tsx';
import { SignIn, SignInAgain } from './components/sign-in.tsx';
import { Frame } from './frame.tsx';
import { studioPages } from './pages.tsx';
import { ask, isServerThere } from './shared/api.ts';
import { goTo, usePlace } from './shared/router.ts';
import { projectName, session } from './shared/session.ts';
import { useStore } from './shared/store.ts';

/** @param entering Resolves when the session is known, with the reason if there should be one and is not. */
export function App({ entering }: { readonly entering: Promise<string | null> }) {
  return (
    <Suspense fallback={<Frame page={null}>{null}</Frame>}>
      <Pages entering={entering} />
    </Suspense>
  );
}

function Pages({ entering }: { readonly entering: Promise<string | null> }) {
  const refusal = use(entering);
  const { segments } = usePlace();
  const now = useStore(session);
  const { kind } = now;
  const page = studioPages.find(({ path }) => path === segments[0]) ?? null;
  const isAtStart = segments.length === 0;
  useEffect(() => {
    if (isAtStart && kind !== 'none') goTo('home', { replace: true });
  }, [isAtStart, kind]);
  useFocusOnPage(page?.path ?? null);
  useEffect(() => {
    const owner = now.kind === 'none' ? 'pgreflect' : projectName(now.project);
    document.title = `${page?.title ?? 'Studio'} - ${owner}`;
  }, [page, now]);
  if (kind === 'none' && (isAtStart || page?.needsSession !== false)) return <SignIn refusal={refusal} />;
  return (
    <Frame page={page}>
      {page === null ? (
        isAtStart ? null : (
          <Problem title="Page not found">
            Choose a page from the menu, or go <Link to="home">home</Link>.
          </Problem>
        )
      ) : (
        <FaultBoundary key={page.path}>
          <Suspense fallback={<p className="loading">Loading {page.title} …</p>}>
            <page.Page />
          </Suspense>
        </FaultBoundary>
      )}
      {kind === 'expired' && <SignInAgain />}
    </Frame>
  );
}

/** Moves the focus into the page after a menu link, for users of keyboards and screen readers. */
function useFocusOnPage(path: string | null): void {
  const before = useRef(path);
  useEffect(() => {
    if (before.current !== null && before.current !== path) document.getElementById('page')?.focus();
    before.current = path;
  }, [path]);
}

interface FaultBoundaryProps {
  readonly children: ReactNode;
}

/** Isolates the fault of one page; usually its code could not be loaded. Give it a `key` per page. */
class FaultBoundary extends Component<FaultBoundaryProps, { readonly hasFault: boolean }> {
  override readonly state = { hasFault: false };

  static getDerivedStateFromError(): { readonly hasFault: boolean } {
    return { hasFault: true };
  }

  override render(): ReactNode {
    return this.state.hasFault ? <FailedPage /> : this.props.children;
  }
}

/** Opens the page when a server that was away is back. */
function FailedPage() {
  const isThere = useStore(isServerThere);
  const wasAway = useRef(false);
  // Finds out whether it is away, which the notice above the page then says.
  useEffect(() => void ask('/health').catch(() => {}), []);
  useEffect(() => {
    if (!isThere) wasAway.current = true;
    // The browser keeps the failure of what it could not load.
    else if (wasAway.current) location.reload();
  }, [isThere]);
  if (!isThere) return <p className="loading">The page opens as soon as the server is back.</p>;
  return (
    <Problem title="This page failed to load">
      The studio may have been updated.{' '}
      <button type="button" onClick={() => location.reload()}>
        Reload
      </button>
    </Problem>
  );
}
