/** Preview of a draft: desktop, phone or plain text, with chosen data. Also sends a test email. */
import { useId, useState } from 'react';
import { emailKindNames, emailKinds } from '../../../../config/auth/email-kinds.ts';
import { Link } from '../../components/link.tsx';
import { type Tab, Tabs } from '../../components/tabs.tsx';
import { onSubmit, useTask } from '../../shared/requests.ts';
import { askProject, useMayWrite } from '../../shared/session.ts';
import { DataDialog } from './data-dialog.tsx';
import type { DescribedEmail } from './described.ts';
import { actionTitles } from './email-names.ts';
import type { Preview } from './render.ts';
import { Screen } from './screen.tsx';

interface PreviewPaneProps {
  readonly email: DescribedEmail;
  /** As the server takes it. */
  readonly draft: Readonly<Record<string, unknown>>;
  readonly preview: Preview;
  readonly data: Readonly<Record<string, unknown>> | null;
  readonly onData: (data: Readonly<Record<string, unknown>> | null) => void;
  /** Of a shared template: what it is seen with (render.ts). */
  readonly around: string;
  readonly onAround: (around: string) => void;
  /** Whether the project's emails go to the inbox. */
  readonly isCaptured: boolean;
}

type View = 'wide' | 'narrow' | 'text';

const views: readonly Tab<View>[] = [
  { name: 'wide', title: 'Desktop' },
  { name: 'narrow', title: 'Phone' },
  { name: 'text', title: 'Text' },
];

/** The pane. */
export function PreviewPane(props: PreviewPaneProps) {
  const { email, draft, preview, data, onData, isCaptured } = props;
  const isEmail = email.group !== 'shared';
  const isPage = email.email === 'link_page';
  const [view, setView] = useState<View>(() => (matchMedia('(width < 600px)').matches ? 'narrow' : 'wide'));
  const [isDark, setDark] = useState(false);
  const [isChoosing, setChoosing] = useState(false);
  const { rendered, html, text } = preview;
  const isStale = rendered?.content.fault != null;
  return (
    <section className="preview" aria-label="Preview">
      <Tabs
        label="Preview as"
        tabs={isPage ? views.filter(({ name }) => name !== 'text') : views}
        chosen={view}
        onChoose={setView}
        end={
          <div className="row">
            <button type="button" className="quiet" aria-pressed={isDark} onClick={() => setDark(!isDark)}>
              Dark
            </button>
            {isEmail ? (
              <button type="button" className="quiet" onClick={() => setChoosing(true)}>
                Data: {data === null ? 'sample' : String(data.Email ?? 'own')}
              </button>
            ) : (
              <AroundChoice {...props} />
            )}
          </div>
        }
      >
        {isEmail && (
          <p className="preview-subject">
            <span className="soft">Subject</span> <strong>{rendered?.subject.output ?? '…'}</strong>
          </p>
        )}
        <div className="preview-body" data-stale={isStale}>
          {html === null ? null : view === 'text' ? (
            <pre className="source">{text}</pre>
          ) : (
            <Screen html={html} isPhone={view === 'narrow'} isDark={isDark} isPage={isPage} />
          )}
        </div>
      </Tabs>
      {!isPage && <TestEmailForm draft={draft} isCaptured={isCaptured} />}
      {email.email === 'invite' && (
        <p className="soft small">
          The link of a test says that it is one. For one that works, invite somebody on the page{' '}
          <Link to="users">Users</Link>.
        </p>
      )}
      {isChoosing && (
        <DataDialog
          email={email}
          data={data}
          onChoose={(chosen) => {
            onData(chosen);
            setChoosing(false);
          }}
          onClose={() => setChoosing(false)}
        />
      )}
    </section>
  );
}

function AroundChoice({ email, around, onAround }: PreviewPaneProps) {
  const isPage = email.email === 'link_page';
  const options = isPage
    ? actionTitles
    : [
        ...(email.partial === undefined ? [] : [['', 'By itself']]),
        ...emailKindNames.map((name) => [name, emailKinds[name].title]),
      ];
  return (
    <label className="around small">
      {isPage ? 'Link' : 'Shown in'}
      <select value={around} onChange={({ target }) => onAround(target.value)}>
        {options.map(([value, title]) => (
          <option key={value} value={value}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

function TestEmailForm({ draft, isCaptured }: Pick<PreviewPaneProps, 'draft' | 'isCaptured'>) {
  const { problem, run } = useTask();
  const [sentTo, setSentTo] = useState<string | null>(null);
  const id = useId();
  const mayWrite = useMayWrite();
  const submit = onSubmit(({ to = '' }) => {
    setSentTo(null);
    void run(async () => {
      await askProject('config/auth/emails/send', { method: 'POST', body: { ...draft, to } });
      setSentTo(to);
    });
  });
  return (
    <form className="trial" onSubmit={submit}>
      <label htmlFor={id}>Send a test to</label>
      <input id={id} name="to" type="email" required placeholder="you@example.com" autoComplete="email" />
      <button type="submit" disabled={!mayWrite}>
        Send test
      </button>
      <p className={problem === null ? 'good' : 'fault'} role="status">
        {problem?.message ??
          (sentTo !== null &&
            (isCaptured ? (
              <>
                This project has no mail server. The test to {sentTo} is in the <Link to="inbox">Inbox</Link>.
              </>
            ) : (
              `Sent to ${sentTo}.`
            )))}
      </p>
    </form>
  );
}
