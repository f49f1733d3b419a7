/** The languages of an email: the email itself and its translations; adds languages. */
import { useId } from 'react';
import type { RenderedDraft } from '../../../../management/templates/draft-schemas.ts';
import { canonicalTag, languageNamed, unknownLanguage } from '../../../../shared/language-tag.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { ApiError } from '../../shared/api.ts';
import { useAnswer } from '../../shared/requests.ts';
import { askProject } from '../../shared/session.ts';
import { useStore } from '../../shared/store.ts';
import {
  type AuthConfig,
  areSame,
  type DescribedEmail,
  type EmailTexts,
  fieldsOf,
  textsIn,
  translationOf,
  translationsIn,
} from './described.ts';
import { languageName } from './email-names.ts';
import {
  builtInLocalesOf,
  draftName,
  drafts,
  localesOf,
  type StoredEmails,
  storeFields,
  textsOf,
} from './emails-state.ts';

interface LanguageChoiceProps {
  readonly stored: StoredEmails;
  readonly email: DescribedEmail;
  /** Language tag; empty: the email itself. */
  readonly chosen: string;
  readonly onChoose: (locale: string) => void;
}

/** The choice of a language, which says what each one lacks. */
export function LanguageChoice({ stored, email, chosen, onChoose }: LanguageChoiceProps) {
  const unsaved = useStore(drafts);
  const older = useOlderLanguages(stored, email);
  const own = [...localesOf(stored, email), ...(chosen === '' ? [] : [chosen])];
  const builtIn = builtInLocalesOf(stored, email);
  // The built-in main text is the English one.
  const shown = new Set([...own, ...builtIn.filter((locale) => locale !== 'en')]);
  const translations = [...shown].map((locale) => {
    const translation = translationOf(stored.config, email, locale);
    const texts = unsaved[draftName(translation)] ?? textsOf(stored, translation);
    const mark = older.includes(locale) ? 'older than the main text' : missing(email, texts, builtIn.includes(locale));
    return { locale, title: `${languageName(locale)}${mark === '' ? '' : ` (${mark})`}` };
  });
  translations.sort((a, b) => a.title.localeCompare(b.title, 'en'));
  return (
    <select
      className="email-language"
      aria-label="Language"
      value={chosen}
      onChange={({ target }) => onChoose(target.value)}
    >
      <option value="">{builtIn.length > 0 ? 'Main text (English)' : 'Main text'}</option>
      {translations.map(({ locale, title }) => (
        <option key={locale} value={locale}>
          {title}
        </option>
      ))}
    </select>
  );
}

interface AddLanguageDialogProps {
  readonly onAdd: (locale: string) => void;
  readonly onClose: () => void;
}

/** Asks for another language. */
export function AddLanguageDialog({ onAdd, onClose }: AddLanguageDialogProps) {
  const id = useId();
  const add = ({ locale = '' }: Readonly<Record<string, string>>): void => {
    const tag = knownTag(languageNamed(locale) ?? locale);
    if (tag === null) throw new ApiError(400, 'no_language', 'There is no such language. Examples: de, pt-BR, French.');
    onAdd(tag);
  };
  return (
    <FormDialog title="Add language" action="Add" onTake={add} onClose={onClose}>
      <label htmlFor={id}>Language tag</label>
      <input id={id} name="locale" required maxLength={100} placeholder="de or pt-BR" spellCheck={false} />
      <p className="soft small">
        The editor starts with the main text. For a text left empty, readers get what they get now.
      </p>
    </FormDialog>
  );
}

/** The tag of a language that exists, as it is stored; null for other text. */
export function knownTag(text: string): string | null {
  const tag = canonicalTag(text);
  return tag !== null && unknownLanguage(tag) === null ? tag : null;
}

/** What a language lacks. @param isBuiltIn Built-in texts take the place of missing ones. */
function missing({ parts }: DescribedEmail, { subject, content, text }: EmailTexts, isBuiltIn: boolean): string {
  if (isBuiltIn && subject === '' && content === '' && text === '') return 'built-in';
  if (!parts.includes('subject')) return content === '' ? 'no text' : '';
  if (subject !== '' && content !== '') return '';
  if (subject !== '') return 'no body';
  return content === '' ? 'no texts' : 'no subject';
}

/** The languages whose built-in texts end with the first text of one's own. */
export function endingLocales(stored: StoredEmails, email: DescribedEmail): readonly string[] {
  const own = Object.keys(translationsIn(stored.config, email)).map((locale) => locale.split('-', 1)[0]);
  return builtInLocalesOf(stored, email).filter((locale) => locale !== 'en' && !own.includes(locale));
}

/** Stores the built-in translations as those of the email. @throws ApiError */
export async function keepBuiltIn(stored: StoredEmails, email: DescribedEmail): Promise<void> {
  const read = endingLocales(stored, email).map(async (locale) => {
    const texts = Object.fromEntries(email.parts.map((part) => [part, '']));
    const body = { email: email.email, locale, ...texts };
    const { builtIn } = (await askProject<RenderedDraft>('config/auth/emails/render', { method: 'POST', body })).body;
    return [locale, builtIn] as const;
  });
  const kept = Object.fromEntries(await Promise.all(read));
  await storeFields({ [email.translationsField]: { ...kept, ...translationsIn(stored.config, email) } });
}

interface Version {
  readonly version: number;
  readonly changed: readonly string[];
}

/** Their language tags. Changes that the project no longer keeps as versions do not count. */
function useOlderLanguages({ config, version }: StoredEmails, email: DescribedEmail): readonly string[] {
  const locales = Object.keys(translationsIn(config, email));
  const key = locales.length === 0 ? null : `${email.email} ${version}`;
  const { value: before } = useAnswer(key, (signal) => readBefore(email, signal));
  if (before === null || locales.length === 0) return [];
  return locales.filter((locale) => {
    const translation = translationOf(config, email, locale);
    return (
      locale in translationsIn(before, email) && areSame(textsIn(before, translation), textsIn(config, translation))
    );
  });
}

/** The configuration before the last change of the main text. */
async function readBefore(email: DescribedEmail, signal: AbortSignal): Promise<AuthConfig> {
  const fields = fieldsOf(email);
  const { body: versions } = await askProject<readonly Version[]>('config/auth/versions', { signal });
  const change = versions.findIndex(({ changed }) => changed.some((name) => fields.includes(name)));
  const before = change === -1 ? undefined : versions[change + 1];
  if (before === undefined) return {};
  const { body } = await askProject<{ readonly values: AuthConfig }>(`config/auth/versions/${before.version}`, {
    signal,
  });
  return body.values;
}
