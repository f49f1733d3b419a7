/**
 * The Emails page: the list, and the email in the address.
 */
import { Link } from '../../components/link.tsx';
import { Problem, Waiting } from '../../components/problem.tsx';
import { useAnswer } from '../../shared/requests.ts';
import { usePlace } from '../../shared/router.ts';
import { useMedia, useStore } from '../../shared/store.ts';
import { EmailEditor } from './email-editor.tsx';
import { EmailList } from './email-list.tsx';
import { allOf, readStored, storedEmails } from './emails-state.ts';
import './emails.css';

/** The page. */
export function EmailsPage() {
  const stored = useStore(storedEmails);
  const hasRoom = useMedia('(width >= 1150px)');
  const { problem } = useAnswer('emails', readStored);
  const { segments } = usePlace();
  const named = segments.slice(1).join('/') || null;
  if (stored === null) return <Waiting what="emails" problem={problem} />;
  const email = named === null ? stored.emails[0] : allOf(stored).find((candidate) => candidate.email === named);
  // If there is room for only one, show the list first.
  const isShown = named !== null || hasRoom;
  return (
    <div className="emails split" data-open={named !== null}>
      <h1 className="visually-hidden">Emails</h1>
      <EmailList stored={stored} chosen={isShown ? (email?.email ?? null) : null} />
      {email === undefined ? (
        <Problem title="Email not found">
          <Link to="emails">Choose an email from the list.</Link>
        </Problem>
      ) : (
        isShown && <EmailEditor key={email.email} stored={stored} email={email} />
      )}
    </div>
  );
}
