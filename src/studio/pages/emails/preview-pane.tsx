/**
 * Preview of a draft: desktop, phone or plain text, with chosen data. Also sends a test email.
 */
import { useId, useState } from 'react';
import { Link } from '../../components/link.tsx';
import { type Tab, Tabs } from '../../components/tabs.tsx';
import { onSubmit, useTask } from '../../shared/requests.ts';
import { askProject, useMayWrite } from '../../shared/session.ts';
import { DataDialog } from './data-dialog.tsx';
import type { DescribedEmail, EmailTexts } from './emails-state.ts';
import type { Preview } from './render.ts';
import { Screen } from './screen.tsx';

interface PreviewPaneProps {
  readonly email: DescribedEmail;
  readonly texts: EmailTexts;
  readonly preview: Preview;
  readonly data: Readonly<Record<string, unknown>> | null;
  readonly onData: (data: Readonly<Record<string, unknown>> | null) => void;
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
export function PreviewPane({ email, texts, preview, data, onData, isCaptured }: PreviewPaneProps) {
  const [view, setView] = useState<View>(() => (matchMedia('(width < 600px)').matches ? 'narrow' : 'wide'));
  const [isDark, setDark] = useState(false);
  const [isChoosing, setChoosing] = useState(false);
  const { rendered, html, text } = preview;
  const isStale = rendered?.content.fault != null;
  return (
    <section className="preview" aria-label="Preview">
      <Tabs
        label="Preview as"
        tabs={views}
        chosen={view}
        onChoose={setView}
        end={
          <div className="row">
            <button type="button" className="quiet" aria-pressed={isDark} onClick={() => setDark(!isDark)}>
              Dark
            </button>
            <button type="button" className="quiet" onClick={() => setChoosing(true)}>
              Data: {data === null ? 'sample' : String(data.Email ?? 'own')}
            </button>
          </div>
        }
      >
        <p className="preview-subject">
          <span className="soft">Subject</span> <strong>{rendered?.subject.output ?? '…'}</strong>
        </p>
        <div className="preview-body" data-stale={isStale}>
          {html === null ? null : view === 'text' ? (
            <pre className="source">{text}</pre>
          ) : (
            <Screen html={html} isPhone={view === 'narrow'} isDark={isDark} />
          )}
        </div>
      </Tabs>
      <TrialForm email={email} texts={texts} data={data} isCaptured={isCaptured} />
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

function TrialForm({ email, texts, data, isCaptured }: Omit<PreviewPaneProps, 'preview' | 'onData'>) {
  const { problem, run } = useTask();
  const [sentTo, setSentTo] = useState<string | null>(null);
  const id = useId();
  const mayWrite = useMayWrite();
  const submit = onSubmit(({ to = '' }) => {
    const { subject, content, text } = texts;
    const body = {
      email: email.email,
      locale: email.locale,
      subject,
      content,
      text,
      to,
      ...(data !== null && { data }),
    };
    setSentTo(null);
    void run(async () => {
      await askProject('config/auth/emails/send', { method: 'POST', body });
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
