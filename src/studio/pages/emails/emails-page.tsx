/**
 * The page Emails: the list, and the email that the address names.
 */
import { useEffect, useState } from 'react';
import { Problem } from '../../components/problem.tsx';
import { ApiError, isServerThere } from '../../shared/api.ts';
import { usePlace } from '../../shared/router.ts';
import { session } from '../../shared/session.ts';
import { useStore } from '../../shared/store.ts';
import { EmailEditor } from './email-editor.tsx';
import { EmailList } from './email-list.tsx';
import { readStored, storedEmails } from './emails-state.ts';
import './emails.css';

/** The page. */
export function EmailsPage() {
  const stored = useStore(storedEmails);
  const problem = useStoredEmails();
  const { segments } = usePlace();
  const named = segments[1] ?? null;
  if (stored === null) {
    if (problem !== null) return <Problem title="The emails could not be loaded">{problem}</Problem>;
    return <p className="loading">Loading emails …</p>;
  }
  const email = named === null ? stored.emails[0] : stored.emails.find((candidate) => candidate.email === named);
  return (
    <div className="emails" data-open={named !== null}>
      <h1 className="visually-hidden">Emails</h1>
      <EmailList stored={stored} chosen={email?.email ?? null} />
      {email === undefined ? (
        <Problem title="Email not found">Choose an email from the list.</Problem>
      ) : (
        <EmailEditor key={email.email} stored={stored} email={email} />
      )}
    </div>
  );
}

/** Reads them now, when somebody comes back to the page, and when the server or a session is back. @returns Why they cannot be read. */
function useStoredEmails(): string | null {
  const [problem, setProblem] = useState<string | null>(null);
  const isThere = useStore(isServerThere);
  const { kind } = useStore(session);
  useEffect(() => {
    if (!isThere || kind !== 'open') return;
    const read = async (): Promise<void> => {
      if (document.visibilityState === 'hidden') return;
      try {
        await readStored();
        setProblem(null);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        setProblem(error.message);
      }
    };
    void read();
    addEventListener('focus', read);
    return () => removeEventListener('focus', read);
  }, [isThere, kind]);
  return problem;
}
