/** The frame of the studio: menu, page, and what replaces it while the user is signed out or the server away. */
import { Suspense, useEffect, useRef, useState } from 'react';
import { FaultBoundary, OpensSoon } from './components/fault-boundary.tsx';
import { Link } from './components/link.tsx';
import { Problem } from './components/problem.tsx';
import { SignIn, SignInAgain } from './components/sign-in.tsx';
import { Frame } from './frame.tsx';
import { studioPages } from './pages.tsx';
import { outage } from './shared/api.ts';
import { goTo, usePlace } from './shared/router.ts';
import { projectName, session } from './shared/session.ts';
import { useStore } from './shared/store.ts';

/** @param entering Resolves when the session is known, with the reason if there should be one and is not. */
export function App({ entering }: { readonly entering: Promise<string | null> }) {
  const [entry, setEntry] = useState<{ readonly refusal: string | null } | null>(null);
  useEffect(() => void entering.then((refusal) => setEntry({ refusal })), [entering]);
  const { segments } = usePlace();
  const now = useStore(session);
  const { kind } = now;
  const isAtStart = segments.length === 0;
  const path = isAtStart ? 'home' : segments[0];
  const page = studioPages.find((each) => each.path === path) ?? null;
  useEffect(() => {
    if (isAtStart && kind !== 'none') goTo('home', { replace: true });
  }, [isAtStart, kind]);
  // Beside the session, not after it; a failure is told where the page is shown.
  const isOpening = entry === null;
  useEffect(() => {
    if (isOpening) page?.load().catch(() => {});
  }, [isOpening, page]);
  useFocusOnPage(page?.path ?? null);
  useEffect(() => {
    const owner = now.kind === 'none' ? 'pgreflect' : projectName(now.project);
    document.title = `${page?.title ?? 'Studio'} - ${owner}`;
  }, [page, now]);
  if (entry !== null && kind === 'none' && page?.needsSession !== false) return <SignIn refusal={entry.refusal} />;
  return (
    <Frame page={page}>
      {isOpening ? (
        <Opening />
      ) : page === null ? (
        <Problem title="Page not found">
          Choose a page from the menu, or go <Link to="home">home</Link>.
        </Problem>
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

/** While nobody knows yet who opens the page. */
function Opening() {
  return useStore(outage) === null ? null : <OpensSoon />;
}

/** Moves the focus into the page after a menu link, for users of keyboards and screen readers. */
function useFocusOnPage(path: string | null): void {
  const before = useRef(path);
  useEffect(() => {
    if (before.current !== null && before.current !== path) document.getElementById('page')?.focus();
    before.current = path;
  }, [path]);
}
