/**
 * One email: its texts, their preview, and the actions on them.
 */
import { useEffect, useState } from 'react';
import { ApiError } from '../../shared/api.ts';
import { useMayWrite } from '../../shared/session.ts';
import { useStore } from '../../shared/store.ts';
import { CompareDialog, OvertakenDialog } from './compare-dialog.tsx';
import { EmailHead, type Outcome } from './email-head.tsx';
import {
  areSame,
  completeTexts,
  type DescribedEmail,
  discard,
  draftName,
  drafts,
  type EmailTexts,
  edit,
  isOvertaken,
  isSent,
  type StoredEmails,
  save,
  textsOf,
  translationOf,
} from './emails-state.ts';
import { HistoryDialog } from './history-dialog.tsx';
import { LanguageTabs } from './language-tabs.tsx';
import { PreviewPane } from './preview-pane.tsx';
import { usePreview } from './render.ts';
import { TextFields } from './text-fields.tsx';

interface EmailEditorProps {
  readonly stored: StoredEmails;
  readonly email: DescribedEmail;
}

type OpenDialog = 'compare' | 'history' | 'overtaken' | null;

/** The email. Give it a `key` per email. */
export function EmailEditor({ stored, email: main }: EmailEditorProps) {
  const [locale, setLocale] = useState('');
  const email = locale === '' ? main : translationOf(stored, main, locale);
  const draft = useStore(drafts)[draftName(email)] ?? null;
  const texts = draft ?? textsOf(stored, email);
  const [chosenData, setData] = useState<Readonly<Record<string, unknown>> | null>(null);
  const data = chosenData === null || locale === '' ? chosenData : { ...chosenData, Locale: locale };
  const [dialog, setDialog] = useState<OpenDialog>(null);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const completed = completeTexts(email, texts);
  const preview = usePreview(email, completed, data);
  const { rendered } = preview;
  const isFaulty =
    rendered !== null && [rendered.subject, rendered.content, rendered.textPart].some((one) => one?.fault != null);
  const change = (part: Partial<EmailTexts>): void => {
    setOutcome(null);
    edit(stored, email, part);
  };
  const perform = async (work: () => Promise<Outcome | null>): Promise<void> => {
    setOutcome(null);
    try {
      setOutcome(await work());
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setOutcome({ kind: 'fault', text: error.message });
    }
  };
  const store = (insists = false): void => {
    if (draft === null) return;
    void perform(async () => {
      const result = await save(email, draft, insists);
      if (result.kind === 'overtaken') {
        setDialog('overtaken');
        return null;
      }
      if (result.kind === 'refused') {
        const { deadLinks } = result;
        const title = deadLinks.length === 1 ? 'Save with the dead link' : `Save with ${deadLinks.length} dead links`;
        const text = `Not saved. ${deadLinks.join(' ')}`;
        return { kind: 'fault', text, way: { title, go: () => store(true) } };
      }
      const { warnings } = result;
      if (warnings.length === 0) {
        const use = isSent(stored, email) ? 'The next email uses it.' : 'It is sent once the email is switched on.';
        return { kind: 'good', text: `Saved. ${use}` };
      }
      const count = warnings.length === 1 ? '1 warning' : `${warnings.length} warnings`;
      return { kind: 'warning', text: `Saved with ${count}. ${warnings.join(' ')}` };
    });
  };
  const chooseLocale = (chosen: string): void => {
    setOutcome(null);
    setLocale(chosen);
  };
  const askToSave = (what: string): void =>
    setOutcome({ kind: 'warning', text: `${what} is in the editor. Save it to send it.` });
  const restore = (what: string, earlier: EmailTexts): void => {
    change(earlier);
    if (!areSame(earlier, textsOf(stored, email))) askToSave(what);
  };
  const isReady = draft !== null && !isFaulty;
  const mayWrite = useMayWrite();
  useSaveKey(isReady ? () => store() : null);
  return (
    <article className="email chosen" aria-labelledby="email-title">
      <EmailHead email={email} stored={stored} perform={perform}>
        <button type="button" onClick={() => setDialog('compare')}>
          Compare texts
        </button>
        <button type="button" onClick={() => setDialog('history')}>
          Show versions
        </button>
        <button
          type="button"
          disabled={areSame(texts, email.defaults)}
          onClick={() => restore(locale === '' ? 'The default' : 'The main text', email.defaults)}
          title={`Load the ${locale === '' ? 'built-in' : 'main'} texts into the editor`}
        >
          {locale === '' ? 'Restore default' : 'Copy main text'}
        </button>
        <button type="button" disabled={draft === null} onClick={() => discard(email)}>
          Discard changes
        </button>
        <button
          type="button"
          className="primary"
          disabled={!isReady || !mayWrite}
          onClick={() => store()}
          title={mayWrite ? undefined : 'Your access token is read-only.'}
        >
          Save
        </button>
      </EmailHead>
      <div className="email-notes" role="status">
        {draft !== null && isOvertaken(stored, email, draft) && (
          <div className="notice warning spread">
            <span>Someone else saved this email while you were editing.</span>
            <button type="button" onClick={() => setDialog('overtaken')}>
              Compare versions
            </button>
          </div>
        )}
        {outcome !== null && (
          <div className={`notice ${outcome.kind} spread`}>
            <p>{outcome.text}</p>
            {outcome.way !== undefined && (
              <button type="button" onClick={outcome.way.go}>
                {outcome.way.title}
              </button>
            )}
          </div>
        )}
        {preview.problem !== null && <p className="notice fault">The preview is out of date: {preview.problem}</p>}
      </div>
      <LanguageTabs stored={stored} email={main} chosen={locale} onChoose={chooseLocale} perform={perform}>
        <TextFields key={locale} email={email} texts={texts} data={data} rendered={rendered} onChange={change} />
        <PreviewPane
          email={email}
          texts={completed}
          preview={preview}
          data={data}
          onData={setData}
          isCaptured={stored.config.mailer_transport === 'smtp' && !stored.config.smtp_host}
        />
      </LanguageTabs>
      {dialog === 'compare' && (
        <CompareDialog email={email} stored={textsOf(stored, email)} texts={texts} onClose={() => setDialog(null)} />
      )}
      {dialog === 'history' && (
        <HistoryDialog
          email={email}
          texts={texts}
          onRestore={(version, earlier) => restore(`Version ${version}`, earlier)}
          onClose={() => setDialog(null)}
        />
      )}
      {dialog === 'overtaken' && draft !== null && (
        <OvertakenDialog
          email={email}
          stored={stored}
          draft={draft}
          onKeep={() => askToSave('Your version')}
          onClose={() => setDialog(null)}
        />
      )}
    </article>
  );
}

/** Ctrl-S, or Command-S. @param onSave Null: there is nothing to save. */
function useSaveKey(onSave: (() => void) | null): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.key !== 's' || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      onSave?.();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  });
}
