/**
 * The page Emails: the list, and the email that the address names.
 */
import { Problem, Waiting } from '../../components/problem.tsx';
import { useAnswer } from '../../shared/requests.ts';
import { usePlace } from '../../shared/router.ts';
import { useStore } from '../../shared/store.ts';
import { EmailEditor } from './email-editor.tsx';
import { EmailList } from './email-list.tsx';
import { readStored, storedEmails } from './emails-state.ts';
import './emails.css';

/** The page. */
export function EmailsPage() {
  const stored = useStore(storedEmails);
  const { problem } = useAnswer('emails', readStored);
  const { segments } = usePlace();
  const named = segments[1] ?? null;
  if (stored === null) return <Waiting what="emails" problem={problem} />;
  const email = named === null ? stored.emails[0] : stored.emails.find((candidate) => candidate.email === named);
  return (
    <div className="emails split" data-open={named !== null}>
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
