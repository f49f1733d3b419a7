/**
 * Fields of the auth configuration for the emails: subject, body and text part of each, and a switch for each
 * notification.
 *
 * A null or empty text means the built-in one, for the text part the one made from the body.
 */
import { flag } from '../../shared/schema.ts';
import { type AuthField, field, object, string } from './auth-field.ts';
import { type Translations, translations } from './auth-translations.ts';
import { checkSubject } from './auth-value-checks.ts';
import { type EmailKind, emailKindNames, type NotificationName, notificationOf } from './email-kinds.ts';

type TemplateFields = { readonly [K in EmailKind as `mailer_subjects_${K}`]: AuthField<string | null> } & {
  readonly [K in EmailKind as `mailer_templates_${K}_content`]: AuthField<string | null>;
} & { readonly [K in EmailKind as `mailer_templates_${K}_text`]: AuthField<string | null> } & {
  readonly [K in NotificationName as `mailer_notifications_${K}_enabled`]: AuthField<boolean>;
} & {
  readonly [K in EmailKind | 'link_page' as `mailer_templates_${K}_translations`]: AuthField<Translations | null>;
} & {
  readonly [K in typeof linkPageField | 'mailer_layout_content']: AuthField<string | null>;
} & { readonly mailer_partials: AuthField<Partials | null> };

/** The field with the page of emailed links, which is no email. */
export const linkPageField = 'mailer_templates_link_page_content';

/** Most partials, and their bytes together. */
export const maxPartials = 100;
const maxPartialBytes = 200_000;

/** Names of partials; the content of a layout has the name that is left out. */
export const partialName = /^(?!content$)[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/** Templates by name. */
export type Partials = Readonly<Record<string, string>>;

/** @throws Error with the rest of a sentence. */
function readPartials(value: Readonly<Record<string, unknown>>): Partials {
  const entries = Object.entries(value);
  if (entries.length > maxPartials) throw new Error(`must have at most ${maxPartials} partials`);
  for (const [name, text] of entries) {
    if (!partialName.test(name))
      throw new Error(`has the name "${name.slice(0, 80)}": use letters, digits, _ and -, and not "content"`);
    if (typeof text !== 'string') throw new Error(`must have a text under "${name}"`);
  }
  return Object.fromEntries(entries) as Partials;
}

/** The fields with the texts of an email. */
export function textFields<K extends EmailKind>(email: K) {
  return {
    subject: `mailer_subjects_${email}`,
    content: `mailer_templates_${email}_content`,
    text: `mailer_templates_${email}_text`,
  } as const;
}

/** The field with the translations of an email, or of the page of emailed links. */
export function translationsField<K extends EmailKind | 'link_page'>(name: K) {
  return `mailer_templates_${name}_translations` as const;
}

/** The field that switches a notification on. */
export function enabledField<K extends NotificationName>(change: K) {
  return `mailer_notifications_${change}_enabled` as const;
}

/** The field that switches an email on; null: it cannot be switched off. */
export function enabledFieldOf(email: EmailKind) {
  const change = notificationOf(email);
  return change === null ? null : enabledField(change);
}

/** The email whose body is in a field; null for other fields. */
export function emailOfContent(field: string): EmailKind | null {
  if (field === linkPageField) return null;
  const [, email] = /^mailer_templates_(.+)_content$/.exec(field) ?? [];
  return (email as EmailKind | undefined) ?? null;
}

/** Largest body in bytes. */
export const maxTemplateBytes = 1_000_000;
const source = string(undefined, maxTemplateBytes);

/** The fields, in the order of the list of emails. */
export const templateFields = Object.fromEntries([
  ...emailKindNames.flatMap((email) => {
    const change = notificationOf(email);
    if (change === null) return textsOf(email, `auth.email.template.${email}`);
    const table = `auth.email.notification.${change}`;
    const place = { file: `${table}.enabled`, like: { placeholder: 'CHANGE', word: change } };
    const enabled = field(flag, false, `Send the ${change.replaceAll('_', ' ')} notification.`, place);
    return [...textsOf(email, table), [enabledField(change), enabled]];
  }),
  ...linkPage(),
  ['mailer_layout_content', layout()],
  [
    'mailer_partials',
    field<Partials | null>(
      object(readPartials, maxPartialBytes),
      null,
      'Templates for {{ template "name" . }} in others, as an object by name.',
      { environment: null },
    ),
  ],
]) as unknown as TemplateFields;

function textsOf(email: EmailKind, table: string) {
  const words = email.replaceAll('_', ' ');
  const like = { placeholder: 'EMAIL', word: email };
  const doc = (part: string) => `${part} of the ${words} email; empty: the built-in one.`;
  const place = { like, file: `${table}.subject` };
  const subject = field<string | null>(string(checkSubject, 4000), null, doc('Subject'), place);
  const more = { like, file: `${table}.content`, environment: `GOTRUE_MAILER_TEMPLATES_${email.toUpperCase()}` };
  const content = field<string | null>(source, null, doc('Body'), more);
  const text = field<string | null>(source, null, `Text part of the ${words} email; empty: made from its body.`, {
    like,
    file: `${table}.text`,
    environment: null,
  });
  const translated = field<Translations | null>(
    translations({ subject: subject.kind, content: content.kind, text: text.kind }),
    null,
    `Texts of the ${words} email by language: {"de": {"subject", "content", "text"}}.`,
    { like, file: `${table}.translations`, environment: null },
  );
  return [[`mailer_subjects_${email}`, subject], [`mailer_templates_${email}_content`, content], [`mailer_templates_${email}_text`, text], [translationsField(email), translated]]; // biome-ignore format: pairs
}

function layout(): AuthField<string | null> {
  const doc =
    'Layout for emails that are not complete HTML pages. Must contain {{ template "content" . }} exactly once.';
  return field<string | null>(source, null, doc, { environment: null });
}

function linkPage(): [string, AuthField<unknown>][] {
  const own = { environment: null };
  const doc = 'Page that asks before a link is used; empty: the built-in one. It uses .Button once.';
  const translated = 'The page that asks before a link is used by language: {"de": {"content"}}.';
  return [
    [linkPageField, field<string | null>(source, null, doc, own)],
    [
      translationsField('link_page'),
      field<Translations | null>(translations({ content: source }), null, translated, own),
    ],
  ];
}
