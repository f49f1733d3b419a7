/**
 * The page's state: the stored emails, and the unsaved drafts.
 *
 * A draft remembers the texts it was made from, to detect another person's changes. Drafts are kept in the tab, so
 * neither navigation nor a reload loses one.
 */
import { ApiError } from '../../shared/api.ts';
import { askProject, session } from '../../shared/session.ts';
import { createStore, type Store } from '../../shared/store.ts';
import { noteUnsaved } from '../../shared/unsaved.ts';
import type { EmailGroup } from './email-names.ts';

/** Subject, body and text part. */
export interface EmailTexts {
  readonly subject: string;
  readonly content: string;
  /** Empty: made from the body. */
  readonly text: string;
}

/** An email, as the server describes it. */
export interface DescribedEmail {
  readonly email: string;
  readonly group: EmailGroup;
  readonly subjectField: string;
  readonly contentField: string;
  readonly textField: string;
  readonly translationsField: string;
  readonly enabledField: string | null;
  readonly variables: readonly string[];
  /** The built-in ones. */
  readonly defaults: EmailTexts;
  /** Of a translation, see `translationOf`; absent: the email itself. */
  readonly locale?: string;
  /** The texts that readers of the translation get for empty ones; empty: the server knows the built-in one. */
  readonly inherited?: EmailTexts;
  /** The texts that apply if nothing is stored. */
  readonly start: EmailTexts;
  readonly sample: Readonly<Record<string, unknown>>;
}

/** Built-in emails have no text part. */
type AnsweredEmail = Omit<DescribedEmail, 'defaults'> & { readonly defaults: Omit<EmailTexts, 'text'> };

/** A draft. */
export interface EmailDraft extends EmailTexts {
  /** The texts stored when the draft was started, or when its author last saw another person's. */
  readonly base: EmailTexts;
}

type AuthConfig = Readonly<Record<string, unknown>>;

type Translations = Readonly<Record<string, Partial<EmailTexts>>>;

/** The emails as they are stored. */
export interface StoredEmails {
  readonly emails: readonly DescribedEmail[];
  readonly config: AuthConfig;
  /** Of the configuration, for `If-Match`. */
  readonly version: string;
}

/** Null until it was read. */
export const storedEmails: Store<StoredEmails | null> = createStore<StoredEmails | null>(null);

const draftsName = 'pgreflect:drafts';

/** Drafts by `draftName`; a draft equal to the stored texts is dropped. */
export const drafts: Store<Readonly<Record<string, EmailDraft>>> = createStore(
  JSON.parse(sessionStorage.getItem(draftsName) ?? '{}') as Record<string, EmailDraft>,
);
keepDrafts();
drafts.subscribe(keepDrafts);
session.subscribe(() => {
  if (session.get().kind !== 'none') return;
  drafts.set({});
  storedEmails.set(null);
});

function keepDrafts(): void {
  sessionStorage.setItem(draftsName, JSON.stringify(drafts.get()));
  noteUnsaved('emails', Object.keys(drafts.get()).length > 0);
}

/** Reads the stored emails. @throws ApiError */
export async function readStored(): Promise<void> {
  const [described, { body: config, headers }] = await Promise.all([
    askProject<readonly AnsweredEmail[]>('config/auth/emails'),
    askProject<AuthConfig>('config/auth'),
  ]);
  const emails = described.body.map((email) => ({ ...email, defaults: { ...email.defaults, text: '' } }));
  const stored = { emails, config, version: versionOf(headers) };
  storedEmails.set(stored);
  for (const email of emails) {
    const translations = localesOf(stored, email).map((locale) => translationOf(stored, email, locale));
    for (const own of [email, ...translations]) {
      const draft = draftOf(own);
      if (draft !== undefined && areSame(draft, textsOf(stored, own))) discard(own);
    }
  }
}

/** Of the email or the translation in the drafts. */
export function draftName({ email, locale }: DescribedEmail): string {
  return locale === undefined ? email : `${email}:${locale}`;
}

function draftOf(email: DescribedEmail): EmailDraft | undefined {
  return drafts.get()[draftName(email)];
}

/** Compressing proxies weaken an `ETag` or append to it; only its number counts. */
function versionOf(headers: Headers): string {
  return /"\d+/.exec(headers.get('etag') ?? '')?.[0].concat('"') ?? '*';
}

/** The stored texts of an email; empty ones of a translation are missing. */
export function textsOf({ config }: StoredEmails, email: DescribedEmail): EmailTexts {
  const { locale, subjectField, contentField, textField } = email;
  if (locale !== undefined) return translationIn(config, email, locale);
  const text = String(config[textField] ?? '');
  return { subject: String(config[subjectField]), content: String(config[contentField]), text };
}

/** The texts of a language in a configuration; missing ones are empty. */
export function translationIn(config: AuthConfig, email: DescribedEmail, locale: string): EmailTexts {
  const { subject = '', content = '', text = '' } = translationsIn(config, email)[locale] ?? {};
  return { subject, content, text };
}

function translationsIn(config: AuthConfig, { translationsField }: DescribedEmail): Translations {
  return (config[translationsField] ?? {}) as Translations;
}

/** The languages that have texts or drafts. */
export function localesOf({ config }: StoredEmails, email: DescribedEmail): readonly string[] {
  const start = `${email.email}:`;
  const drafted = Object.keys(drafts.get()).filter((name) => name.startsWith(start));
  const names = [...Object.keys(translationsIn(config, email)), ...drafted.map((name) => name.slice(start.length))];
  return [...new Set(names)].sort();
}

/** The email in a language, whose defaults are the texts of the email itself. */
export function translationOf(stored: StoredEmails, email: DescribedEmail, locale: string): DescribedEmail {
  const defaults = textsOf(stored, email);
  let inherited = areSame(defaults, email.defaults) ? { subject: '', content: '', text: '' } : defaults;
  const subtags = locale.split('-');
  for (let count = 1; count < subtags.length; count++)
    inherited = fill(translationIn(stored.config, email, subtags.slice(0, count).join('-')), inherited);
  return { ...email, locale, defaults, inherited };
}

/** The texts that a reader gets: of a translation, those that it lacks are inherited. */
export function completeTexts({ inherited }: DescribedEmail, texts: EmailTexts): EmailTexts {
  return inherited === undefined ? texts : fill(texts, inherited);
}

function fill({ subject, content, text }: EmailTexts, others: EmailTexts): EmailTexts {
  return { subject: subject || others.subject, content: content || others.content, text: text || others.text };
}

/** Whether the email is sent: notifications have a switch. */
export function isSent({ config }: StoredEmails, { enabledField }: DescribedEmail): boolean {
  return enabledField === null || config[enabledField] === true;
}

/** Whether the texts are the same. */
export function areSame(a: EmailTexts, b: EmailTexts): boolean {
  return a.subject === b.subject && a.content === b.content && a.text === b.text;
}

/** Stores typed text in the draft. */
export function edit(stored: StoredEmails, email: DescribedEmail, change: Partial<EmailTexts>): void {
  const now = textsOf(stored, email);
  const { [draftName(email)]: draft, ...others } = drafts.get();
  const next = { ...(draft ?? { ...now, base: now }), ...change };
  drafts.set(areSame(next, now) ? others : { ...others, [draftName(email)]: next });
}

/** Whether another person stored other texts since the draft was started. */
export function isOvertaken(stored: StoredEmails, email: DescribedEmail, draft: EmailDraft): boolean {
  return !areSame(textsOf(stored, email), draft.base);
}

/** Bases the draft on the stored texts, which its author has seen. */
export function acceptStored(stored: StoredEmails, email: DescribedEmail): void {
  const draft = draftOf(email);
  if (draft !== undefined)
    drafts.set({ ...drafts.get(), [draftName(email)]: { ...draft, base: textsOf(stored, email) } });
}

/** Drops the draft. */
export function discard(email: DescribedEmail): void {
  const { [draftName(email)]: _draft, ...others } = drafts.get();
  drafts.set(others);
}

/** The result of saving a draft. Messages use the page's words. */
export type SaveResult =
  | { readonly kind: 'saved'; readonly warnings: readonly string[] }
  /** Links lead nowhere, and the user has not insisted. */
  | { readonly kind: 'refused'; readonly deadLinks: readonly string[] }
  /** Another person saved first; the page has their texts now. */
  | { readonly kind: 'overtaken' };

/** Stores the draft. @param insists Store it even if links lead nowhere. @throws ApiError */
export async function save(email: DescribedEmail, draft: EmailDraft, insists: boolean): Promise<SaveResult> {
  const stored = storedEmails.get();
  // Another person may have stored the same texts.
  if (stored !== null && areSame(draft, textsOf(stored, email))) return { kind: 'saved', warnings: [] };
  if (stored === null || isOvertaken(stored, email, draft)) return { kind: 'overtaken' };
  try {
    const warnings = await store(changeOf(stored, email, draft), insists);
    if (draftOf(email) === draft) discard(email);
    return { kind: 'saved', warnings: warnings.map((text) => inWordsOfPage(email, text)) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, problems } = error;
    if (problems.length > 0 && problems.every((problem) => problem.allow_warnings))
      return { kind: 'refused', deadLinks: problems.map(({ message }) => inWordsOfPage(email, message)) };
    if (status !== 412) throw error;
    // The configuration changed meanwhile, usually in another field.
    await readStored();
    return save(email, draft, insists);
  }
}

function changeOf({ config }: StoredEmails, email: DescribedEmail, draft: EmailDraft): AuthConfig {
  const { locale, subjectField, contentField, textField, translationsField } = email;
  if (locale === undefined)
    return {
      [subjectField]: toStored(email, draft, 'subject'),
      [contentField]: toStored(email, draft, 'content'),
      [textField]: toStored(email, draft, 'text'),
    };
  const { subject, content, text } = draft;
  return { [translationsField]: { ...translationsIn(config, email), [locale]: { subject, content, text } } };
}

/** Deletes the texts of a translation, and its draft. @throws ApiError */
export async function removeTranslation(email: DescribedEmail): Promise<void> {
  const { locale = '', translationsField } = email;
  if (locale in translationsIn(loaded().config, email))
    await storeLatest(({ config }) => {
      const { [locale]: _removed, ...others } = translationsIn(config, email);
      return { [translationsField]: others };
    });
  discard(email);
}

/**
 * `mailer_subjects_invite: line 1: .Foo is …` as `Subject, line 1: .Foo is ….`, and of a translation
 * `mailer_templates_invite_translations: de, subject: line 1: …` as `de: Subject, line 1: ….`
 */
function inWordsOfPage(email: DescribedEmail, sentence: string): string {
  const { subjectField, contentField, textField, translationsField } = email;
  const pattern = /^(\w+): (?:([\w-]+), (subject|content|text): )?(line \d+)?(.*)$/s;
  const [, field = '', locale, named = '', place = '', text] = pattern.exec(sentence) ?? [];
  const titles = { subject: 'Subject', content: 'Body', text: 'Text part' };
  const own = { [subjectField]: titles.subject, [contentField]: titles.content, [textField]: titles.text };
  const part = field === translationsField ? titles[named as keyof EmailTexts] : own[field];
  if (part === undefined) return sentence;
  const start = locale === undefined ? part : `${locale}: ${part}`;
  return place === '' ? `${start}: ${text}.` : `${start}, ${place}${text}.`;
}

/**
 * A text equal to the built-in one is not stored, because a later release may improve it. Null would mean the start
 * value.
 */
function toStored({ defaults, start }: DescribedEmail, draft: EmailTexts, part: keyof EmailTexts): string | null {
  if (draft[part] === start[part]) return null;
  return draft[part] === defaults[part] ? '' : draft[part];
}

/** Stores the value of a switch. @throws ApiError */
export async function switchField(field: string, value: boolean | string): Promise<void> {
  await storeFields({ [field]: value });
}

/** Stores settings that no draft holds; another person's change of other fields stays. @throws ApiError */
export async function storeFields(change: Readonly<Record<string, unknown>>): Promise<readonly string[]> {
  return storeLatest(() => change);
}

/** Stores a change that is made from what is stored. @throws ApiError */
async function storeLatest(change: (stored: StoredEmails) => AuthConfig): Promise<readonly string[]> {
  try {
    return await store(change(loaded()));
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 412)) throw error;
    await readStored();
    return store(change(loaded()));
  }
}

function loaded(): StoredEmails {
  const stored = storedEmails.get();
  if (stored === null) throw new Error('The emails are not loaded yet.');
  return stored;
}

/** @returns Warnings of the API. */
async function store(change: AuthConfig, insists = false): Promise<readonly string[]> {
  const stored = loaded();
  const { body, headers } = await askProject<AuthConfig & { readonly warnings: readonly string[] }>(
    insists ? 'config/auth?allow_warnings=true' : 'config/auth',
    {
      method: 'PATCH',
      headers: { 'if-match': stored.version, prefer: 'return=representation; warnings' },
      body: change,
    },
  );
  const { warnings, ...config } = body;
  storedEmails.set({ ...stored, config, version: versionOf(headers) });
  return warnings;
}
