/** The Settings page: sections at the left, the chosen one beside them, and a bar for what is not saved. */
import { useEffect, useMemo } from 'react';
import { Link } from '../../components/link.tsx';
import { OperatorsOnly, Problem, Waiting } from '../../components/problem.tsx';
import { SearchForm } from '../../components/search-form.tsx';
import { useAnswer } from '../../shared/requests.ts';
import { goTo, usePlace } from '../../shared/router.ts';
import { useMayOperate, useMayWrite, useScopes } from '../../shared/session.ts';
import { useStore } from '../../shared/store.ts';
import { AccessTokens } from './access-tokens.tsx';
import { ChangeBar } from './change-bar.tsx';
import { ProjectKeys } from './project-keys.tsx';
import { FoundSettings, SectionView } from './section-view.tsx';
import { fieldPlaces, settingsSections } from './sections.ts';
import { allSections } from './settings-commands.ts';
import { SettingsHistory } from './settings-history.tsx';
import { changes, readSettings, storedSettings } from './settings-state.ts';
import './settings.css';

/** The page. */
export function SettingsPage() {
  const { segments, query } = usePlace();
  const mayRead = useScopes().includes('auth_config:read');
  const path = segments[1] ?? null;
  const wanted = query.get('q') ?? '';
  useEffect(() => {
    if (path === null) goTo(mayRead ? 'settings/general' : 'settings/access-tokens', { replace: true });
  }, [path, mayRead]);
  const section = allSections.find((each) => each.path === path);
  if (path !== null && section === undefined)
    return <Problem title="Page not found">Choose a section of the page Settings from the menu.</Problem>;
  return (
    <>
      <header className="page-head">
        <h1>Settings</h1>
        <SearchForm
          label="Search settings"
          value={wanted}
          onType={(value) =>
            goTo(`settings/${path ?? 'general'}${value === '' ? '' : `?q=${encodeURIComponent(value)}`}`, {
              replace: true,
            })
          }
        />
      </header>
      <div className="settings">
        <SectionList current={wanted === '' ? path : null} />
        <div className="settings-content">
          {wanted === '' && <h2 className="title">{section?.title}</h2>}
          {path !== null && <Content path={path} wanted={wanted} />}
        </div>
      </div>
    </>
  );
}

function SectionList({ current }: { readonly current: string | null }) {
  const unsaved = useStore(changes);
  const counts = useMemo(
    () => Map.groupBy(Object.keys(unsaved), (name) => fieldPlaces.get(name)?.section.path ?? ''),
    [unsaved],
  );
  return (
    <nav aria-label="Sections of the settings" className="section-list">
      <ul>
        {allSections.map(({ path, title }) => (
          <li key={path}>
            <Link to={`settings/${path}`} isCurrent={path === current}>
              {title}
              {counts.has(path) && (
                <span className="badge changed">
                  {counts.get(path)?.length}
                  <span className="visually-hidden"> not saved</span>
                </span>
              )}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Content({ path, wanted }: { readonly path: string; readonly wanted: string }) {
  const mayOperate = useMayOperate();
  if (wanted === '' && path === 'keys') return <ProjectKeys />;
  if (wanted === '' && path === 'access-tokens') return mayOperate ? <AccessTokens /> : <OperatorsOnly />;
  return <Configuration path={path} wanted={wanted} />;
}

function Configuration({ path, wanted }: { readonly path: string; readonly wanted: string }) {
  const stored = useStore(storedSettings);
  const mayRead = useScopes().includes('auth_config:read');
  const mayWrite = useMayWrite();
  const { problem } = useAnswer(mayRead ? 'settings' : null, (signal) => readSettings(signal));
  if (!mayRead) {
    return (
      <Problem title="Access denied">
        The settings need an access token with the scope auth_config:read, and auth_config:write to change them.
      </Problem>
    );
  }
  if (stored === null) return <Waiting what="settings" problem={problem} />;
  const section = settingsSections.find((each) => each.path === path);
  return (
    <>
      {stored.isConfigOnly ? (
        <p className="notice warning">
          This gateway takes its configuration from its start values alone (<code>--config-only</code>).
        </p>
      ) : (
        !mayWrite && <p className="notice">Your access token may read the settings, not change them.</p>
      )}
      {wanted !== '' && <FoundSettings wanted={wanted} stored={stored} />}
      {wanted === '' && section !== undefined && <SectionView section={section} stored={stored} />}
      {wanted === '' && path === 'history' && <SettingsHistory stored={stored} />}
      <ChangeBar stored={stored} />
    </>
  );
}
