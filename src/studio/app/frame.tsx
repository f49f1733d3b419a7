/** The frame of every page: menu, server state, theme, sign-out. Where there is little room, the menu opens from a button. */
import { Dialog } from '@base-ui/react/dialog';
import { type ReactNode, useState } from 'react';
import { CommandPalette, isPaletteOpen } from './components/command-palette.tsx';
import { CloseIcon, LeaveIcon, MenuIcon, SearchIcon, ThemeIcon } from './components/icons.tsx';
import { Link } from './components/link.tsx';
import { Toasts } from './components/toasts.tsx';
import { menuParts, type StudioPage, studioPages } from './pages.tsx';
import { outage } from './shared/api.ts';
import { projectName, session, signOut } from './shared/session.ts';
import { useMedia, useStore } from './shared/store.ts';
import { theme, themes } from './shared/theme.ts';

/** @param page The current page; null: none. */
export function Frame({ page, children }: { readonly page: StudioPage | null; readonly children: ReactNode }) {
  const isNarrow = useMedia('(width < 800px)');
  return (
    <div className="frame">
      <a className="skip visually-hidden" href="#page">
        Skip to content
      </a>
      <header className="menu">
        {isNarrow ? (
          <NarrowMenu page={page} />
        ) : (
          <>
            <Brand />
            <PaletteButton />
            <Pages page={page} />
            <End />
          </>
        )}
      </header>
      <main id="page" tabIndex={-1}>
        <ServerNotice />
        {children}
      </main>
      <CommandPalette />
      <Toasts />
    </div>
  );
}

function Brand() {
  const now = useStore(session);
  return (
    <p className="brand">
      <img src={new URL('./icon.svg', import.meta.url).href} alt="" width="24" height="24" />
      <span>
        pgreflect
        {now.kind !== 'none' && (
          <small className="project" title={`Project ${now.project.ref}`}>
            {projectName(now.project)}
          </small>
        )}
      </span>
    </p>
  );
}

function PaletteButton() {
  return (
    <button type="button" className="palette-button" onClick={() => isPaletteOpen.set(true)}>
      <SearchIcon /> <span>Go to …</span> <kbd>{isMac ? '⌘' : 'Ctrl '}K</kbd>
    </button>
  );
}

const isMac = navigator.userAgent.includes('Mac');

interface PagesProps {
  readonly page: StudioPage | null;
  readonly onLeave?: () => void;
}

function Pages({ page, onLeave }: PagesProps) {
  return (
    <nav aria-label="Studio">
      {menuParts.map((part) => (
        <section key={part}>
          {part !== '' && (
            <p className="menu-part" id={`menu-${part}`}>
              {part}
            </p>
          )}
          <ul aria-labelledby={part === '' ? undefined : `menu-${part}`}>
            {studioPages
              .filter((each) => each.part === part)
              .map(({ path, title, icon: Icon }) => (
                <li key={path}>
                  <Link to={path} isCurrent={path === page?.path} onClick={onLeave}>
                    <Icon /> {title}
                  </Link>
                </li>
              ))}
          </ul>
        </section>
      ))}
    </nav>
  );
}

function End() {
  const { kind } = useStore(session);
  return (
    <div className="menu-end">
      <ThemeButton />
      {kind !== 'none' && (
        <button type="button" className="quiet" onClick={signOut}>
          <LeaveIcon /> <span>Sign out</span>
        </button>
      )}
    </div>
  );
}

function NarrowMenu({ page }: { readonly page: StudioPage | null }) {
  const [isOpen, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  return (
    <Dialog.Root open={isOpen} onOpenChange={setOpen}>
      <Dialog.Trigger className="quiet icon-button" aria-label="Menu">
        <MenuIcon />
      </Dialog.Trigger>
      <Brand />
      <PaletteButton />
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="menu drawer" aria-label="Menu">
          <Dialog.Close className="quiet icon-button" aria-label="Close">
            <CloseIcon />
          </Dialog.Close>
          <Pages page={page} onLeave={close} />
          <End />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
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
  const reason = useStore(outage);
  return (
    <div role="status">
      {reason !== null && (
        <p className="notice warning">
          <strong>{reason}</strong> The studio retries every two seconds. What you typed is kept.
        </p>
      )}
    </div>
  );
}
