/** The Emails page: the list, and the email in the address. */
import './emails.css';
import { useState } from 'react';
import { Link } from '../../components/link.tsx';
import { Problem, Waiting } from '../../components/problem.tsx';
import { useAnswer } from '../../shared/requests.ts';
import { usePlace } from '../../shared/router.ts';
import { useMedia, useStore } from '../../shared/store.ts';
import { BrandDialog } from './brand-dialog.tsx';
import { areSame, type DescribedEmail, partialsPath } from './described.ts';
import { EmailEditor } from './email-editor.tsx';
import { type EmailGroup, groupTitles, titleOf } from './email-names.ts';
import {
  allOf,
  drafts,
  isShownFirst,
  localesOf,
  readStored,
  type StoredEmails,
  storedEmails,
  textsOf,
} from './emails-state.ts';
import { PartialDialog } from './partial-dialog.tsx';
import { SendSwitch } from './send-switch.tsx';

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

const groups = Object.keys(groupTitles) as EmailGroup[];

/** @param props.chosen Name of the open email. */
function EmailList({ stored, chosen }: { readonly stored: StoredEmails; readonly chosen: string | null }) {
  const [isBranding, setBranding] = useState(false);
  const [isAdding, setAdding] = useState(false);
  useStore(drafts);
  const [first] = stored.emails;
  return (
    <nav className="link-list email-list" aria-label="Emails">
      <header>
        <div className="spread">
          <p className="title">Emails</p>
          <button type="button" onClick={() => setBranding(true)}>
            Brand
          </button>
        </div>
        {chosen === null && (
          <p className="soft small">
            Choose an email to edit its text. <em>Brand</em> sets the name, logo and color of all.
          </p>
        )}
      </header>
      {groups.map((group) => (
        <section key={group} aria-labelledby={`group-${group}`}>
          <h2 id={`group-${group}`}>{groupTitles[group]}</h2>
          <ul>
            {allOf(stored)
              .filter((email) => email.group === group)
              .map((email) => (
                <li key={email.email}>
                  <Link to={`emails/${email.email}`} isCurrent={email.email === chosen}>
                    <span>{titleOf(email.email).title}</span>
                    <Badges stored={stored} email={email} />
                  </Link>
                  <SendSwitch stored={stored} email={email} isInList />
                </li>
              ))}
          </ul>
        </section>
      ))}
      <button type="button" onClick={() => setAdding(true)}>
        Add partial
      </button>
      {isAdding && <PartialDialog stored={stored} onClose={() => setAdding(false)} />}
      {isBranding && first !== undefined && (
        <BrandDialog stored={stored} email={first} onClose={() => setBranding(false)} />
      )}
    </nav>
  );
}

function Badges({ stored, email }: { readonly stored: StoredEmails; readonly email: DescribedEmail }) {
  const isDraft = Object.keys(useStore(drafts)).some((name) => name.split(':', 1)[0] === email.email);
  const isPartial = email.email.startsWith(partialsPath);
  const isOwn = !isPartial && (!areSame(textsOf(stored, email), email.defaults) || localesOf(stored, email).length > 0);
  return (
    <span className="badges">
      {isDraft ? <span className="badge changed">Unsaved</span> : isOwn && <span className="badge">Edited</span>}
      {email.email === 'link_page' && !isShownFirst(stored) && <span className="badge">Off</span>}
    </span>
  );
}
