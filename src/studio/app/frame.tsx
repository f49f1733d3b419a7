/** The frame of every page: menu, server state, theme, sign-out. */
import type { ReactNode } from 'react';
import { LeaveIcon, ThemeIcon } from './components/icons.tsx';
import { Link } from './components/link.tsx';
import { type StudioPage, studioPages } from './pages.tsx';
import { isServerThere } from './shared/api.ts';
import { session, signOut } from './shared/session.ts';
import { useStore } from './shared/store.ts';
import { theme, themes } from './shared/theme.ts';

/** @param page The current page; null: none. */
export function Frame({ page, children }: { readonly page: StudioPage | null; readonly children: ReactNode }) {
  const now = useStore(session);
  return (
    <div className="frame">
      <a className="skip visually-hidden" href="#page">
        Skip to content
      </a>
      <header className="menu">
        <p className="brand">
          <img src={new URL('./icon.svg', import.meta.url).href} alt="" width="24" height="24" /> <span>pgreflect</span>
        </p>
        <nav aria-label="Studio">
          <ul>
            {studioPages.map(({ path, title, icon: Icon }) => (
              <li key={path}>
                <Link to={path} isCurrent={path === page?.path}>
                  <Icon /> {title}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <div className="menu-end">
          {now.kind !== 'none' && (
            <p className="project" title="Project ref">
              {now.project.isLocal ? 'Local project' : now.project.ref}
            </p>
          )}
          <ThemeButton />
          {now.kind !== 'none' && (
            <button type="button" className="quiet" onClick={signOut}>
              <LeaveIcon /> <span>Sign out</span>
            </button>
          )}
        </div>
      </header>
      <main id="page" tabIndex={-1}>
        <ServerNotice />
        {children}
      </main>
    </div>
  );
}

function ThemeButton() {
  const chosen = useStore(theme);
  const next = themes[(themes.indexOf(chosen) + 1) % themes.length] ?? 'system';
  return (
    <button type="button" className="quiet" onClick={() => theme.set(next)} title={`Switch to: ${next}`}>
      <ThemeIcon /> <span>Theme: {chosen}</span>
    </button>
  );
}

function ServerNotice() {
  const isThere = useStore(isServerThere);
  return (
    <div role="status">
      {!isThere && (
        <p className="notice warning">
          <strong>The server is not responding.</strong> The studio retries every two seconds. What you typed is kept.
        </p>
      )}
    </div>
  );
}
