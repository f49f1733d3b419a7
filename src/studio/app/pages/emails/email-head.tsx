/** The head of an email: its title, when it is sent, and what can be done with it. */
import type { ReactNode } from 'react';
import { Link } from '../../components/link.tsx';
import type { DescribedEmail } from './described.ts';
import { titleOf } from './email-names.ts';
import { isShownFirst, type StoredEmails } from './emails-state.ts';
import { SendSwitch } from './send-switch.tsx';

interface EmailHeadProps {
  readonly stored: StoredEmails;
  readonly email: DescribedEmail;
  readonly children: ReactNode;
}

/** The head of the email. */
export function EmailHead({ email, stored, children }: EmailHeadProps) {
  const { title, sent } = titleOf(email.email);
  return (
    <header className="page-head">
      <div>
        <Link className="to-list" to="emails">
          All emails
        </Link>
        <div className="spread">
          <h2 id="email-title" className="title">
            {title}
          </h2>
          <SendSwitch stored={stored} email={email} />
        </div>
        <p className="soft small">
          {sent} {email.email === 'link_page' && <LinkPageUse stored={stored} />}
        </p>
      </div>
      <div className="row">{children}</div>
    </header>
  );
}

function LinkPageUse({ stored }: { readonly stored: StoredEmails }) {
  return (
    <>
      {isShownFirst(stored) ? 'They do now.' : 'Now they work when they are opened.'}{' '}
      <Link to="settings/security?field=mailer_link_confirmation">Change in Settings</Link>
    </>
  );
}
