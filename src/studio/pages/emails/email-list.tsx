/**
 * The thirteen emails in their two groups, each with its state.
 */
import { useState } from 'react';
import { Link } from '../../components/link.tsx';
import { useStore } from '../../shared/store.ts';
import { BrandDialog } from './brand-dialog.tsx';
import { type EmailGroup, emailTitles, groupTitles } from './email-names.ts';
import { areSame, type DescribedEmail, drafts, isSent, localesOf, type StoredEmails, textsOf } from './emails-state.ts';

const groups = Object.keys(groupTitles) as EmailGroup[];

/** @param props.chosen Name of the open email. */
export function EmailList({ stored, chosen }: { readonly stored: StoredEmails; readonly chosen: string | null }) {
  const [isBranding, setBranding] = useState(false);
  const [first] = stored.emails;
  return (
    <nav className="link-list email-list" aria-label="Emails">
      {groups.map((group) => (
        <section key={group} aria-labelledby={`group-${group}`}>
          <h2 id={`group-${group}`}>{groupTitles[group]}</h2>
          <ul>
            {stored.emails
              .filter((email) => email.group === group)
              .map((email) => (
                <li key={email.email}>
                  <Link to={`emails/${email.email}`} isCurrent={email.email === chosen}>
                    <span>{emailTitles[email.email]?.title ?? email.email}</span>
                    <Badges stored={stored} email={email} />
                  </Link>
                </li>
              ))}
          </ul>
        </section>
      ))}
      <section>
        <button type="button" className="quiet" onClick={() => setBranding(true)}>
          Brand
        </button>
      </section>
      {isBranding && first !== undefined && (
        <BrandDialog stored={stored} email={first} onClose={() => setBranding(false)} />
      )}
    </nav>
  );
}

function Badges({ stored, email }: { readonly stored: StoredEmails; readonly email: DescribedEmail }) {
  const isDraft = Object.keys(useStore(drafts)).some((name) => name.split(':', 1)[0] === email.email);
  const isOwn = !areSame(textsOf(stored, email), email.defaults) || localesOf(stored, email).length > 0;
  return (
    <span className="badges">
      {isDraft ? <span className="badge changed">Unsaved</span> : isOwn && <span className="badge">Edited</span>}
      {email.enabledField !== null && isSent(stored, email) && <span className="badge on">On</span>}
    </span>
  );
}
