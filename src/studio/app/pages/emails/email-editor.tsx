/** One email: its texts, their preview, and the actions on them. */
import { useMemo, useState } from 'react';
import type { ChangeNote } from '../../../../management/change-note.ts';
import { Menu } from '../../components/menu.tsx';
import { ApiError } from '../../shared/api.ts';
import { goTo, usePlace } from '../../shared/router.ts';
import { useMayWrite } from '../../shared/session.ts';
import { useStore } from '../../shared/store.ts';
import { inWordsOfPage } from './api-words.ts';
import { CompareDialog, OvertakenDialog } from './compare-dialog.tsx';
import { areSame, completeTexts, type DescribedEmail, type EmailTexts, translationOf } from './described.ts';
import { EmailHead } from './email-head.tsx';
import { languageName } from './email-names.ts';
import {
  allOf,
  builtInLocalesOf,
  discard,
  draftName,
  drafts,
  edit,
  isOvertaken,
  localesOf,
  removeStored,
  type StoredEmails,
  save,
  sayUse,
  textsOf,
} from './emails-state.ts';
import { HistoryDialog } from './history-dialog.tsx';
import { AddLanguageDialog, endingLocales, keepBuiltIn, knownTag, LanguageChoice } from './languages.tsx';
import { PreviewPane } from './preview-pane.tsx';
import { draftOf, usePreview } from './render.ts';
import { type Outcome, SaveBar } from './save-bar.tsx';
import { TextFields } from './text-fields.tsx';

interface EmailEditorProps {
  readonly stored: StoredEmails;
  readonly email: DescribedEmail;
}

const noTexts: EmailTexts = { subject: '', content: '', text: '' };

type OpenDialog = 'compare' | 'history' | 'overtaken' | 'language' | null;

/** The email. Give it a `key` per email. */
export function EmailEditor({ stored, email: main }: EmailEditorProps) {
  const asked = usePlace().query.get('language');
  const hasLanguages = main.translationsField !== '';
  const locale = (hasLanguages && asked !== null && knownTag(asked)) || '';
  const { config } = stored;
  const email = useMemo(() => (locale === '' ? main : translationOf(config, main, locale)), [config, main, locale]);
  const draft = useStore(drafts)[draftName(email)] ?? null;
  const texts = draft ?? textsOf(stored, email);
  const [chosenData, setData] = useState<Readonly<Record<string, unknown>> | null>(null);
  const data = chosenData === null || locale === '' ? chosenData : { ...chosenData, Locale: locale };
  const mayWrite = useMayWrite();
  const [dialog, setDialog] = useState<OpenDialog>(null);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const completed = completeTexts(email, texts);
  const [around, setAround] = useState(main.partial === undefined ? 'recovery' : '');
  const request = draftOf(email, completed, { config, data, around });
  const preview = usePreview(request, stored);
  const { rendered } = preview;
  const isFaulty =
    rendered !== null && [rendered.subject, rendered.content, rendered.textPart].some((one) => one?.fault != null);
  const change = (part: Partial<EmailTexts>): void => {
    setOutcome(null);
    edit(stored, email, part);
  };
  const say = (notes: readonly ChangeNote[]) => notes.map((note) => inWordsOfPage(allOf(stored), email, note));
  const perform = async (work: () => Promise<Outcome | null>): Promise<void> => {
    setOutcome(null);
    try {
      setOutcome(await work());
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const problems = say(error.problems);
      setOutcome(problems.length > 0 ? refusal(problems) : { kind: 'fault', text: error.message });
    }
  };
  const ending = locale === '' && draft !== null ? endingLocales(stored, main).map(languageName) : [];
  const keep = (): void =>
    void perform(async () => {
      await keepBuiltIn(stored, main);
      return { kind: 'good', text: `${ending.join(', ')}: the built-in texts are stored as yours.` };
    });
  const store = (insists = false): void => {
    if (draft === null) return;
    void perform(async () => {
      const result = await save(email, draft, insists);
      if (result.kind === 'overtaken') {
        setDialog('overtaken');
        return null;
      }
      if (result.kind === 'saved')
        return success(say(result.warnings), sayUse(stored, email), ending.length > 0 ? keep : undefined);
      return refusal(say(result.problems), result.isAllowed ? () => store(true) : undefined);
    });
  };
  const chooseLocale = (chosen: string): void => {
    setOutcome(null);
    goTo(`emails/${main.email}${chosen === '' ? '' : `?language=${chosen}`}`, { replace: true });
  };
  // The built-in main text is the English one.
  const builtInLocales = builtInLocalesOf(stored, main).filter((tag) => tag !== 'en');
  const addLocale = (added: string): void => {
    const isListed = [...localesOf(stored, main), ...builtInLocales].includes(added);
    if (!isListed) edit(stored, translationOf(config, main, added), textsOf(stored, main));
    chooseLocale(added);
    setDialog(null);
  };
  const askToSave = (what: string): void =>
    setOutcome({ kind: 'warning', text: `${what} is in the editor. Save it to send it.` });
  const restore = (what: string, earlier: EmailTexts): void => {
    change(earlier);
    if (!areSame(earlier, textsOf(stored, email))) askToSave(what);
  };
  const isPartial = main.partial !== undefined;
  const isPage = main.email === 'link_page';
  const builtIn = rendered?.builtIn ?? null;
  // Readers of this language get the built-in texts.
  const isBuiltIn = locale !== '' && areSame(email.defaults, main.defaults) && builtIn !== null;
  const [sourceTitle, source]: readonly [string, EmailTexts] = isBuiltIn
    ? ['built-in text', { ...builtIn, text: '' }]
    : [locale === '' ? 'default' : 'main text', email.defaults];
  const isBuiltInToo = locale !== '' && !isBuiltIn && main.builtInLocales.includes(locale.split('-', 1)[0] ?? '');
  const remove = (): void => {
    if (!confirm(`Remove the partial ${main.partial}? Its text will be lost.`)) return;
    void perform(async () => {
      await removeStored(main);
      goTo('emails/layout');
      return null;
    });
  };
  const removeLanguage = (): void => {
    const name = languageName(locale);
    if (!confirm(`Remove ${name} from this ${isPage ? 'page' : 'email'}? Its texts will be lost.`)) return;
    void perform(async () => {
      await removeStored(email);
      chooseLocale('');
      return { kind: 'good', text: `${name} is removed.` };
    });
  };
  const actions = [
    [
      { title: 'Compare texts', run: () => setDialog('compare') },
      { title: 'Show versions', run: () => setDialog('history') },
    ],
    [
      isPartial
        ? { title: 'Remove partial', isDisabled: !mayWrite, run: remove }
        : {
            title: locale === '' ? 'Restore default' : `Copy ${sourceTitle}`,
            isDisabled: areSame(texts, source),
            run: () => restore(`The ${sourceTitle}`, source),
          },
      ...(isBuiltInToo && builtIn !== null
        ? [{ title: 'Copy built-in text', run: () => restore('The built-in text', { ...builtIn, text: '' }) }]
        : []),
    ],
    ...(hasLanguages
      ? [
          [
            { title: 'Add language …', run: () => setDialog('language') },
            ...(locale !== '' && localesOf(stored, main).includes(locale)
              ? [{ title: `Remove ${languageName(locale)}`, isDisabled: !mayWrite, run: removeLanguage }]
              : []),
          ],
        ]
      : []),
  ];
  return (
    <article className="email chosen" aria-labelledby="email-title">
      <EmailHead email={email} stored={stored}>
        {hasLanguages && <LanguageChoice stored={stored} email={main} chosen={locale} onChoose={chooseLocale} />}
        <Menu label="More" groups={actions} />
      </EmailHead>
      {builtInLocales.includes(locale) && areSame(textsOf(stored, email), noTexts) && (
        <div className="email-note spread">
          <p className="soft small">Readers of {languageName(locale)} get the built-in text until you save your own.</p>
          <button
            type="button"
            disabled={!isBuiltIn || areSame(texts, source)}
            onClick={() => restore('The built-in text', source)}
          >
            Copy built-in text
          </button>
        </div>
      )}
      <div className="email-work">
        <TextFields key={locale} email={email} texts={texts} data={data} rendered={rendered} onChange={change} />
        <PreviewPane
          email={email}
          draft={request}
          preview={preview}
          data={data}
          onData={setData}
          around={around}
          onAround={setAround}
          isCaptured={stored.config.mailer_transport === 'smtp' && !stored.config.smtp_host}
        />
      </div>
      {/* Below the texts, so that what is typed stays where it is. */}
      <div className="email-notes" role="status">
        {ending.length > 0 && (
          <div className="notice warning spread">
            <span>Your text will also go to readers of {ending.join(', ')}: it ends the built-in translations.</span>
            <button type="button" disabled={!mayWrite} onClick={keep}>
              Keep the translations
            </button>
          </div>
        )}
        {draft !== null && isOvertaken(stored, email, draft) && (
          <div className="notice warning spread">
            <span>Someone else saved this {email.group === 'shared' ? 'text' : 'email'} while you were editing.</span>
            <button type="button" onClick={() => setDialog('overtaken')}>
              Compare versions
            </button>
          </div>
        )}
        {preview.problem !== null && <p className="notice fault">The preview is out of date: {preview.problem}</p>}
      </div>
      <SaveBar
        outcome={outcome}
        isChanged={draft !== null}
        isFaulty={isFaulty}
        onDiscard={() => {
          setOutcome(null);
          discard(email);
        }}
        onSave={() => store()}
      />
      {dialog === 'compare' && (
        <CompareDialog email={email} stored={textsOf(stored, email)} texts={texts} onClose={() => setDialog(null)} />
      )}
      {dialog === 'language' && <AddLanguageDialog onAdd={addLocale} onClose={() => setDialog(null)} />}
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

/** What is wrong: in one paragraph, or one line for each of several. @param insist Stores emails without a working link all the same. */
function refusal(problems: readonly string[], insist?: () => void): Outcome {
  const isOne = problems.length === 1;
  const title = isOne ? 'Save without a working link' : 'Save without working links';
  return {
    kind: 'fault',
    ...(isOne ? { text: `Not saved. ${problems[0]}` } : { text: 'Not saved.', details: problems }),
    ...(insist !== undefined && { way: { title, go: insist } }),
  };
}

/** @param keep Stores the translations that the text has ended. */
function success(warnings: readonly string[], use: string, keep?: () => void): Outcome {
  const text = `Saved. ${use}`;
  if (warnings.length === 0) return { kind: 'good', text };
  const way = keep === undefined ? {} : { way: { title: 'Keep the translations', go: keep } };
  return { kind: 'warning', text, details: warnings, ...way };
}
