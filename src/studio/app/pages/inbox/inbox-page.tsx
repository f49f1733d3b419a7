/** The Inbox page: the stored emails of a project without a mail server. New ones appear automatically. */
import { useEffect, useRef, useState } from 'react';
import type { CapturedEmail } from '../../../../email/transport/inbox.ts';
import { EmailFrame } from '../../components/email-frame.tsx';
import { Fact, Facts } from '../../components/facts.tsx';
import { Link } from '../../components/link.tsx';
import { Moment } from '../../components/moment.tsx';
import { Empty, Problem } from '../../components/problem.tsx';
import { SearchForm } from '../../components/search-form.tsx';
import { SignInCard } from '../../components/sign-in.tsx';
import { type Tab, Tabs } from '../../components/tabs.tsx';
import { emailTitle } from '../../shared/email-title.ts';
import { goTo, usePlace } from '../../shared/router.ts';
import { maxEmails, useInbox } from './captured-emails.ts';
import './inbox.css';

type View = 'html' | 'text' | 'source';

const views: readonly Tab<View>[] = [
  { name: 'html', title: 'Email' },
  { name: 'text', title: 'Text' },
  { name: 'source', title: 'Source' },
];

/** The page. */
export function InboxPage() {
  const { query } = usePlace();
  const to = query.get('to');
  const { emails: all, refusal } = useInbox();
  const wanted = (to ?? '').trim().toLowerCase();
  const emails = all?.filter((email) => email.to.toLowerCase().includes(wanted)) ?? null;
  if (refusal?.status === 401) {
    return (
      <div className="sign-in">
        <SignInCard refusal={null} />
      </div>
    );
  }
  return (
    <>
      <header className="page-head">
        <div className="row">
          <h1>Inbox</h1>
          {emails !== null && (
            <span className="badge" role="status">
              {emails.length === 1 ? '1 email' : `${emails.length} emails`}
            </span>
          )}
        </div>
        <SearchForm
          label="Filter by recipient"
          value={to ?? ''}
          onType={(text) => goTo(placeOf(text === '' ? null : text, null), { replace: true })}
        />
      </header>
      {refusal !== null ? (
        <Problem title="The inbox is not available">
          {refusal.message} {refusal.status === 404 && <Link to="deliveries">See the delivery status of emails</Link>}
        </Problem>
      ) : emails === null ? (
        <p className="loading">Loading emails …</p>
      ) : emails.length === 0 ? (
        <Nothing isEmpty to={to} isFull={all !== null && all.length >= maxEmails} />
      ) : (
        <Emails emails={emails} to={to} id={query.get('id')} />
      )}
    </>
  );
}

interface EmailsProps {
  readonly emails: readonly CapturedEmail[];
  readonly to: string | null;
  /** The email in the address. */
  readonly id: string | null;
}

/** The list beside one of them. */
function Emails({ emails, to, id }: EmailsProps) {
  const first = useFirst(emails);
  const shown = id === null ? first : (emails.find((email) => String(email.id) === id) ?? null);
  return (
    <div className="split" data-open={id !== null}>
      <section className="link-list inbox-list" aria-label="Emails">
        <ol>
          {emails.map((email) => (
            <Entry key={email.id} email={email} to={to} isShown={email.id === shown?.id} />
          ))}
        </ol>
      </section>
      {shown === null ? (
        <Nothing isEmpty={false} to={to} isFull={false} />
      ) : (
        <Email key={shown.id} email={shown} to={to} />
      )}
    </div>
  );
}

/** The newest email of the first answer, while it exists: a new one does not replace the one being read. */
function useFirst(emails: readonly CapturedEmail[]): CapturedEmail | null {
  const opened = useRef<number | null>(null);
  const first = emails.find(({ id }) => id === opened.current) ?? emails[0] ?? null;
  useEffect(() => {
    opened.current = first?.id ?? null;
  }, [first]);
  return first;
}

function placeOf(to: string | null, id: number | null): string {
  const query = new URLSearchParams({ ...(to !== null && { to }), ...(id !== null && { id: String(id) }) }).toString();
  return query === '' ? 'inbox' : `inbox?${query}`;
}

interface EntryProps {
  readonly email: CapturedEmail;
  readonly to: string | null;
  readonly isShown: boolean;
}

function Entry({ email, to, isShown }: EntryProps) {
  return (
    <li>
      <Link to={placeOf(to, email.id)} isCurrent={isShown}>
        <strong>{email.subject}</strong>
        <span className="soft small">{email.to}</span>
        <span className="soft small">
          <Moment at={email.capturedAt} />
        </span>
      </Link>
    </li>
  );
}

interface NothingProps {
  readonly isEmpty: boolean;
  readonly to: string | null;
  /** There may be older ones. */
  readonly isFull: boolean;
}

function Nothing({ isEmpty, to, isFull }: NothingProps) {
  if (!isEmpty) return <Problem title="This email no longer exists">Choose another email.</Problem>;
  return (
    <Empty title={to === null ? 'No email yet' : `No email to “${to}”`}>
      {to === null ? (
        <>
          <p>
            This project has no mail server, so its emails stay here. Sign up in your application, or send a test of a
            template. Emails appear here as they are sent.
          </p>
          <Link className="button" to="emails">
            Open the templates
          </Link>
        </>
      ) : (
        <>
          {isFull && <p>The page has the newest {maxEmails} emails.</p>}
          <Link className="button" to={placeOf(null, null)}>
            Show all emails
          </Link>
        </>
      )}
    </Empty>
  );
}

/** Where a browser of this machine is when it has followed the link; null for other addresses, and for emails without a link. */
function localSiteOf({ text }: CapturedEmail): string | null {
  const [link = ''] = /\/verify\?\S*/.exec(text) ?? [];
  const [, redirect = ''] = /redirect_to=([^\s&\]]+)/.exec(link) ?? [];
  try {
    const { origin, hostname } = new URL(decodeURIComponent(redirect));
    return hostname === 'localhost' || hostname.startsWith('127.') ? origin : null;
  } catch {
    return null;
  }
}

function Email({ email, to }: { readonly email: CapturedEmail; readonly to: string | null }) {
  const [view, setView] = useState<View>(email.html === '' ? 'text' : 'html');
  const site = localSiteOf(email);
  return (
    <article className="inbox-email chosen" aria-labelledby="email-subject">
      <header>
        <Link className="to-list" to={placeOf(to, null)}>
          All emails
        </Link>
        <h2 id="email-subject">{email.subject}</h2>
        <Facts>
          <Fact name="From">{email.from}</Fact>
          <Fact name="To">{email.to}</Fact>
          <Fact name="Time">
            <Moment at={email.capturedAt} />
          </Fact>
          <Fact name="Email">{emailTitle(email.kind)}</Fact>
        </Facts>
        {site !== null && (
          <p className="soft small">
            The link leads on to {site}. If your application does not run there, the browser says so. To change the
            address, set <code>site_url</code>.
          </p>
        )}
      </header>
      <Tabs label="Show as" tabs={views} chosen={view} onChoose={setView}>
        {view === 'html' ? (
          <EmailFrame html={email.html} title="The email" />
        ) : (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
          <pre className="source" tabIndex={0}>
            {view === 'text' ? email.text : email.source}
          </pre>
        )}
      </Tabs>
    </article>
  );
}
