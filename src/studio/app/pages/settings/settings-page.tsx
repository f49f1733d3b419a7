/** The Settings page; access tokens are its only section so far. */
import { useEffect } from 'react';
import { OperatorsOnly, Problem } from '../../components/problem.tsx';
import { goTo, usePlace } from '../../shared/router.ts';
import { useMayOperate } from '../../shared/session.ts';
import { AccessTokens } from './access-tokens.tsx';
import './settings.css';

/** The page. */
export function SettingsPage() {
  const { segments } = usePlace();
  const mayOperate = useMayOperate();
  const section = segments[1] ?? null;
  useEffect(() => {
    if (section === null) goTo('settings/access-tokens', { replace: true });
  }, [section]);
  if (section !== null && section !== 'access-tokens')
    return <Problem title="Page not found">Choose a page from the menu.</Problem>;
  return (
    <>
      <header className="page-head">
        <h1>Settings: access tokens</h1>
      </header>
      {mayOperate ? <AccessTokens /> : <OperatorsOnly />}
    </>
  );
}
