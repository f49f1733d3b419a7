/**
 * What a draft becomes: as its reader sees it on a wide or a narrow screen, and as text; with which data; and a trial by mail.
 */
import { type FormEvent, useId, useState } from 'react';
import { MailFrame } from '../../components/mail-frame.tsx';
import { type Tab, Tabs } from '../../components/tabs.tsx';
import { ApiError } from '../../shared/api.ts';
import { askProject, useMayWrite } from '../../shared/session.ts';
import { DataDialog } from './data-dialog.tsx';
import type { DescribedEmail, EmailTexts } from './emails-state.ts';
import type { Preview } from './render.ts';

interface PreviewPaneProps {
  readonly email: DescribedEmail;
  readonly texts: EmailTexts;
  readonly preview: Preview;
  readonly data: Readonly<Record<string, unknown>> | null;
  readonly onData: (data: Readonly<Record<string, unknown>> | null) => void;
}

type View = 'wide' | 'narrow' | 'text';

const views: readonly Tab<View>[] = [
  { name: 'wide', title: 'Desktop' },
  { name: 'narrow', title: 'Phone' },
  { name: 'text', title: 'Text' },
];

/** Width of a phone in pixels. */
const phoneWidth = 375;

/** The pane. */
export function PreviewPane({ email, texts, preview, data, onData }: PreviewPaneProps) {
  const [view, setView] = useState<View>('wide');
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
          <button type="button" className="quiet" onClick={() => setChoosing(true)}>
            Data: {data === null ? 'sample' : String(data.Email ?? 'own')}
          </button>
        }
      >
        <p className="preview-subject">
          <span className="soft">Subject</span> <strong>{rendered?.subject.output ?? '…'}</strong>
        </p>
        <div className="preview-body" data-stale={isStale}>
          {html === null ? null : view === 'text' ? (
            <pre className="source">{text}</pre>
          ) : (
            <MailFrame html={html} title="Preview of the email" {...(view === 'narrow' && { width: phoneWidth })} />
          )}
        </div>
      </Tabs>
      <TrialForm email={email} texts={texts} data={data} />
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

function TrialForm({ email, texts, data }: Pick<PreviewPaneProps, 'email' | 'texts' | 'data'>) {
  const [outcome, setOutcome] = useState<{ readonly kind: 'good' | 'fault'; readonly text: string } | null>(null);
  const id = useId();
  const mayWrite = useMayWrite();
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const to = String(new FormData(event.currentTarget).get('to')).trim();
    const { subject, content } = texts;
    const body = { email: email.email, subject, content, to, ...(data !== null && { data }) };
    try {
      await askProject('config/auth/emails/send', { method: 'POST', body });
      setOutcome({ kind: 'good', text: `Sent to ${to}.` });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setOutcome({ kind: 'fault', text: error.message });
    }
  };
  return (
    <form className="trial" onSubmit={submit}>
      <label htmlFor={id}>Send a test to</label>
      <input id={id} name="to" type="email" required placeholder="you@example.com" autoComplete="email" />
      <button type="submit" disabled={!mayWrite}>
        Send test
      </button>
      <p className={outcome?.kind ?? ''} role="status">
        {outcome?.text}
      </p>
    </form>
  );
}
