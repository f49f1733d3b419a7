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
  const { problem } = useAnswer('emails', readStored);
  const hasRoom = useMedia('(width >= 1150px)');
  const { segments } = usePlace();
  const named = segments.slice(1).join('/') || null;
  // Where there is room for an email alone, its own head is enough.
  const isAlone = named !== null && !hasRoom;
  return (
    <>
      <header className={isAlone ? 'visually-hidden' : 'page-head'}>
        <h1>Emails</h1>
        {stored !== null && !isAlone && <SharedParts stored={stored} />}
      </header>
      {stored === null ? (
        <Waiting what="emails" problem={problem} />
      ) : (
        <Emails stored={stored} named={named} hasRoom={hasRoom} />
      )}
    </>
  );
}

/** What all emails share: their brand, and the pieces that they use. */
function SharedParts({ stored }: { readonly stored: StoredEmails }) {
  const [dialog, setDialog] = useState<'brand' | 'partial' | null>(null);
  const [first] = stored.emails;
  const close = (): void => setDialog(null);
  return (
    <div className="row">
      <button type="button" onClick={() => setDialog('partial')}>
        Add partial
      </button>
      <button type="button" title="The name, logo and color of all emails" onClick={() => setDialog('brand')}>
        Brand
      </button>
      {dialog === 'partial' && <PartialDialog stored={stored} onClose={close} />}
      {dialog === 'brand' && first !== undefined && <BrandDialog stored={stored} email={first} onClose={close} />}
    </div>
  );
}

interface EmailsProps {
  readonly stored: StoredEmails;
  /** The email in the address. */
  readonly named: string | null;
  /** For the list and an email. */
  readonly hasRoom: boolean;
}

function Emails({ stored, named, hasRoom }: EmailsProps) {
  const email = named === null ? stored.emails[0] : allOf(stored).find((candidate) => candidate.email === named);
  // If there is room for only one, show the list first.
  const isShown = named !== null || hasRoom;
  return (
    <div className="emails split" data-open={named !== null}>
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
  return (
    <nav className="link-list email-list" aria-label="Emails">
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
