/**
 * The page's state: the stored emails, and the unsaved drafts.
 *
 * A draft remembers the texts it was made from, to detect another person's changes. Drafts are kept in the tab, so
 * neither navigation nor a reload loses one.
 */
import type { ChangeNote } from '../../../../management/change-note.ts';
import type { SharedTemplate } from '../../../../management/templates/draft-schemas.ts';
import { ApiError } from '../../shared/api.ts';
import { askProject, session } from '../../shared/session.ts';
import { createStore, type Store } from '../../shared/store.ts';
import { noteUnsaved } from '../../shared/unsaved.ts';
import {
  type AnsweredEmail,
  type AuthConfig,
  areSame,
  changeOf,
  type DescribedEmail,
  type EmailTexts,
  partialsIn,
  partialsPath,
  removalOf,
  textsIn,
  toEmail,
  toPartial,
  toShared,
  translationOf,
  translationsIn,
} from './described.ts';

/** A draft. */
export interface EmailDraft extends EmailTexts {
  /** The texts stored when the draft was started, or when its author last saw another person's. */
  readonly base: EmailTexts;
}

/** The emails and what they share, as they are stored. */
export interface StoredEmails {
  readonly emails: readonly DescribedEmail[];
  /** The layout around emails, and the page of their links. */
  readonly shared: readonly DescribedEmail[];
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
  const [described, shared, { body: config, headers }] = await Promise.all([
    askProject<readonly AnsweredEmail[]>('config/auth/emails'),
    askProject<readonly SharedTemplate[]>('config/auth/emails/shared'),
    askProject<AuthConfig>('config/auth'),
  ]);
  const emails = described.body.map(toEmail);
  const stored = {
    emails,
    config,
    version: versionOf(headers),
    shared: shared.body.map((one) => toShared(one, emails[0]?.builtInLocales ?? [])),
  };
  storedEmails.set(stored);
  for (const email of allOf(stored)) {
    const translations = localesOf(stored, email).map((locale) => translationOf(config, email, locale));
    for (const own of [email, ...translations]) {
      const draft = draftOf(own);
      if (draft !== undefined && areSame(draft, textsOf(stored, own))) discard(own);
    }
  }
}

/** Emails and shared templates. */
export function allOf(stored: StoredEmails): readonly DescribedEmail[] {
  return [...stored.emails, ...stored.shared, ...partialsOf(stored)];
}

/** The partials that are stored or have drafts, by name. */
export function partialsOf({ config, shared }: StoredEmails): readonly DescribedEmail[] {
  const layout = shared.find(({ email }) => email === 'layout');
  const drafted = Object.keys(drafts.get()).filter((name) => name.startsWith(partialsPath));
  const names = [...Object.keys(partialsIn(config)), ...drafted.map((name) => name.slice(partialsPath.length))];
  return layout === undefined ? [] : [...new Set(names)].sort().map((name) => toPartial(layout, name));
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
  return textsIn(config, email);
}

/** The languages that have texts or drafts. */
export function localesOf({ config }: StoredEmails, email: DescribedEmail): readonly string[] {
  const start = `${email.email}:`;
  const drafted = Object.keys(drafts.get()).filter((name) => name.startsWith(start));
  const names = [...Object.keys(translationsIn(config, email)), ...drafted.map((name) => name.slice(start.length))];
  return [...new Set(names)].sort();
}

/** The languages whose readers get built-in texts: those of an email or page without a text of its own. */
export function builtInLocalesOf(stored: StoredEmails, email: DescribedEmail): readonly string[] {
  return areSame(textsOf(stored, email), email.defaults) ? email.builtInLocales : [];
}

/** Whether the email is sent: notifications have a switch. */
export function isSent({ config }: StoredEmails, { enabledField }: DescribedEmail): boolean {
  return enabledField === null || config[enabledField] === true;
}

/** Whether links open the page that asks first. */
export function isShownFirst({ config }: StoredEmails): boolean {
  return config.mailer_link_confirmation === 'page';
}

/** When a stored text is used. */
export function sayUse(stored: StoredEmails, email: DescribedEmail): string {
  if (email.email === 'link_page')
    return isShownFirst(stored) ? 'The next link shows it.' : 'It is shown once links ask first.';
  if (email.group === 'shared') return 'The next email uses it.';
  return isSent(stored, email) ? 'The next email uses it.' : 'It is sent once the email is switched on.';
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
export function rebaseDraft(stored: StoredEmails, email: DescribedEmail): void {
  const draft = draftOf(email);
  if (draft !== undefined)
    drafts.set({ ...drafts.get(), [draftName(email)]: { ...draft, base: textsOf(stored, email) } });
}

/** Drops the draft. */
export function discard(email: DescribedEmail): void {
  const { [draftName(email)]: _draft, ...others } = drafts.get();
  drafts.set(others);
}

/** The result of saving a draft. */
export type SaveResult =
  | { readonly kind: 'saved'; readonly warnings: readonly ChangeNote[] }
  /** What is wrong. `isAllowed`: links lead nowhere, and the user has not insisted. */
  | { readonly kind: 'refused'; readonly problems: readonly ChangeNote[]; readonly isAllowed: boolean }
  /** Another person saved first; the page has their texts now. */
  | { readonly kind: 'overtaken' };

/** Stores the draft. @param insists Store it even if links lead nowhere. @throws ApiError */
export async function save(email: DescribedEmail, draft: EmailDraft, insists: boolean): Promise<SaveResult> {
  const stored = storedEmails.get();
  // Another person may have stored the same texts.
  if (stored !== null && areSame(draft, textsOf(stored, email))) return { kind: 'saved', warnings: [] };
  if (stored === null || isOvertaken(stored, email, draft)) return { kind: 'overtaken' };
  try {
    const warnings = await store(changeOf(stored.config, email, draft), insists);
    if (draftOf(email) === draft) discard(email);
    return { kind: 'saved', warnings };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, problems } = error;
    if (problems.length > 0) {
      const isAllowed = problems.every((problem) => problem.allow_warnings);
      return { kind: 'refused', problems, isAllowed };
    }
    if (status !== 412) throw error;
    // The configuration changed meanwhile, usually in another field.
    await readStored();
    return save(email, draft, insists);
  }
}

/** Deletes a translation or a partial, and its draft. @throws ApiError */
export async function removeStored(email: DescribedEmail): Promise<void> {
  if (removalOf(loaded().config, email) !== null) await storeLatest(({ config }) => removalOf(config, email) ?? {});
  discard(email);
}

/** Stores settings that no draft holds; another person's change of other fields stays. @throws ApiError */
export async function storeFields(change: Readonly<Record<string, unknown>>): Promise<readonly ChangeNote[]> {
  return storeLatest(() => change);
}

/** Stores a change that is made from what is stored. @throws ApiError */
async function storeLatest(change: (stored: StoredEmails) => AuthConfig): Promise<readonly ChangeNote[]> {
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
async function store(change: AuthConfig, insists = false): Promise<readonly ChangeNote[]> {
  const { body } = await askProject<{ readonly warnings: readonly ChangeNote[] }>(
    insists ? 'config/auth' : 'config/auth?allow_warnings=false',
    {
      method: 'PATCH',
      headers: { 'if-match': loaded().version, prefer: 'return=representation; warnings' },
      body: change,
    },
  );
  // A layout or a brand changes what the server says of all emails.
  await readStored();
  return body.warnings;
}
