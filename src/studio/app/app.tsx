/** The frame of the studio: menu, page, and what replaces it while the user is signed out or the server away. */
import { Component, type ReactNode, Suspense, use, useEffect, useRef } from 'react';
import { Problem } from './components/problem.tsx';
import { SignIn, SignInAgain } from './components/sign-in.tsx';
import { Frame } from './frame.tsx';
import { studioPages } from './pages.tsx';
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
    if (isAtStart && kind !== 'none') goTo('graphql', { replace: true });
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
          <Problem title="Page not found">Choose a page from the menu.</Problem>
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
    if (!this.state.hasFault) return this.props.children;
    return (
      <Problem title="This page failed to load">
        The server may be down, or the studio may have been updated. What you typed is kept.{' '}
        <button type="button" onClick={() => location.reload()}>
          Reload
        </button>
      </Problem>
    );
  }
}
