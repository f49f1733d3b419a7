/**
 * What the page knows: the emails as they are stored, and the drafts that are not.
 *
 * A draft remembers the texts it was made from, so that a change by somebody else is seen. Drafts are kept in the tab: neither a
 * walk through the pages nor a reload loses one.
 */
import { ApiError } from '../../shared/api.ts';
import { askProject, session } from '../../shared/session.ts';
import { createStore, type Store } from '../../shared/store.ts';
import { noteUnsaved } from '../../shared/unsaved.ts';
import type { EmailGroup } from './email-names.ts';

/** Subject and body. */
export interface EmailTexts {
  readonly subject: string;
  readonly content: string;
}

/** An email, as the server describes it. */
export interface DescribedEmail {
  readonly email: string;
  readonly group: EmailGroup;
  readonly subjectField: string;
  readonly contentField: string;
  readonly enabledField: string | null;
  readonly variables: readonly string[];
  /** The built-in ones. */
  readonly defaults: EmailTexts;
  /** Those in force where nothing is stored. */
  readonly start: EmailTexts;
  readonly sample: Readonly<Record<string, unknown>>;
}

/** A draft. */
export interface EmailDraft extends EmailTexts {
  /** What was stored when it was begun, or when its author last saw what somebody else had stored. */
  readonly base: EmailTexts;
}

type AuthConfig = Readonly<Record<string, unknown>>;

/** The emails as they are stored. */
export interface StoredEmails {
  readonly emails: readonly DescribedEmail[];
  readonly config: AuthConfig;
  /** Of the configuration, as `If-Match` takes it. */
  readonly version: string;
}

/** Null until it was read. */
export const storedEmails: Store<StoredEmails | null> = createStore<StoredEmails | null>(null);

const draftsName = 'pgreflect:drafts';

/** Drafts by email; one that says what is stored is none. */
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

/** Reads what is stored. @throws ApiError */
export async function readStored(): Promise<void> {
  const [described, { body: config, headers }] = await Promise.all([
    askProject<readonly DescribedEmail[]>('config/auth/emails'),
    askProject<AuthConfig>('config/auth'),
  ]);
  const stored = { emails: described.body, config, version: versionOf(headers) };
  storedEmails.set(stored);
  for (const email of described.body) {
    const draft = drafts.get()[email.email];
    if (draft !== undefined && areSame(draft, textsOf(stored, email))) discard(email);
  }
}

/** Proxies that compress an answer weaken its `ETag` or append to it; what counts is the number in it. */
function versionOf(headers: Headers): string {
  return /"\d+/.exec(headers.get('etag') ?? '')?.[0].concat('"') ?? '*';
}

/** The stored texts of an email. */
export function textsOf({ config }: StoredEmails, { subjectField, contentField }: DescribedEmail): EmailTexts {
  return { subject: String(config[subjectField]), content: String(config[contentField]) };
}

/** Whether the email is sent at all: notifications have a switch. */
export function isSent({ config }: StoredEmails, { enabledField }: DescribedEmail): boolean {
  return enabledField === null || config[enabledField] === true;
}

/** Whether two pairs of texts are the same. */
export function areSame(a: EmailTexts, b: EmailTexts): boolean {
  return a.subject === b.subject && a.content === b.content;
}

/** Takes over what was typed. */
export function edit(stored: StoredEmails, email: DescribedEmail, change: Partial<EmailTexts>): void {
  const now = textsOf(stored, email);
  const { [email.email]: draft, ...others } = drafts.get();
  const next = { ...(draft ?? { ...now, base: now }), ...change };
  drafts.set(areSame(next, now) ? others : { ...others, [email.email]: next });
}

/** Whether somebody else has stored other texts since the draft was begun. */
export function isOvertaken(stored: StoredEmails, email: DescribedEmail, draft: EmailDraft): boolean {
  return !areSame(textsOf(stored, email), draft.base);
}

/** The draft goes on from what is stored now: its author has seen it. */
export function acceptStored(stored: StoredEmails, email: DescribedEmail): void {
  const draft = drafts.get()[email.email];
  if (draft !== undefined) drafts.set({ ...drafts.get(), [email.email]: { ...draft, base: textsOf(stored, email) } });
}

/** Forgets the draft. */
export function discard(email: DescribedEmail): void {
  const { [email.email]: _draft, ...others } = drafts.get();
  drafts.set(others);
}

/** What became of a draft. Texts are sentences in the words of the page. */
export type SaveResult =
  | { readonly kind: 'saved'; readonly warnings: readonly string[] }
  /** Links lead nowhere, and nobody insists. */
  | { readonly kind: 'refused'; readonly deadLinks: readonly string[] }
  /** Somebody else was faster; the page knows their texts now. */
  | { readonly kind: 'overtaken' };

/** Stores the draft. @param insists Whether links that lead nowhere are meant. @throws ApiError */
export async function save(email: DescribedEmail, draft: EmailDraft, insists: boolean): Promise<SaveResult> {
  const stored = storedEmails.get();
  // Somebody else may have stored the very same.
  if (stored !== null && areSame(draft, textsOf(stored, email))) return { kind: 'saved', warnings: [] };
  if (stored === null || isOvertaken(stored, email, draft)) return { kind: 'overtaken' };
  const change = {
    [email.subjectField]: toStored(email, draft, 'subject'),
    [email.contentField]: toStored(email, draft, 'content'),
  };
  try {
    const warnings = await store(change, insists);
    if (drafts.get()[email.email] === draft) discard(email);
    return { kind: 'saved', warnings: warnings.map((text) => inWordsOfPage(email, text)) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, problems } = error;
    if (problems.length > 0 && problems.every((problem) => problem.allow_warnings))
      return { kind: 'refused', deadLinks: problems.map(({ message }) => inWordsOfPage(email, message)) };
    if (status !== 412) throw error;
    // Something was changed meanwhile, most often something else.
    await readStored();
    return save(email, draft, insists);
  }
}

/** `mailer_subjects_invite: line 1: .Foo is …` as `Subject, line 1: .Foo is ….` */
function inWordsOfPage({ subjectField, contentField }: DescribedEmail, sentence: string): string {
  const [, field, place = '', text] = /^(\w+): (line \d+)?(.*)$/s.exec(sentence) ?? [];
  if (field !== subjectField && field !== contentField) return sentence;
  const part = field === subjectField ? 'Subject' : 'Body';
  return place === '' ? `${part}: ${text}.` : `${part}, ${place}${text}.`;
}

/** A text that is the built-in one again is not kept: a later release may improve it. Null would mean that of the start. */
function toStored({ defaults, start }: DescribedEmail, draft: EmailTexts, part: keyof EmailTexts): string | null {
  if (draft[part] === start[part]) return null;
  return draft[part] === defaults[part] ? '' : draft[part];
}

/** Switches a notification. @throws ApiError */
export async function switchEmail(enabledField: string, isOn: boolean): Promise<void> {
  try {
    await store({ [enabledField]: isOn });
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 412)) throw error;
    await readStored();
    await store({ [enabledField]: isOn });
  }
}

/** @returns Warnings, as the API says them. */
async function store(change: Readonly<Record<string, unknown>>, insists = false): Promise<readonly string[]> {
  const stored = storedEmails.get();
  if (stored === null) throw new Error('The emails are not loaded yet.');
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
