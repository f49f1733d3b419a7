/**
 * Previews of emails before they are stored: the editable fields, a draft rendered with sample or chosen data, and a
 * test email.
 *
 * A draft is untrusted text: it is rendered within the limits of the check before storing, and the answer includes its
 * faults.
 */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import { authField } from '../../config/auth/auth-fields.ts';
import { enabledFieldOf, textFields, translationsField } from '../../config/auth/auth-template-fields.ts';
import { checkColor, checkEmail } from '../../config/auth/auth-value-checks.ts';
import {
  type EmailKind,
  type EmailVariable,
  emailKindNames,
  emailKinds,
  isLinkKind,
} from '../../config/auth/email-kinds.ts';
import { builtInLocales } from '../../email/built-in/built-in.ts';
import { parseTemplate, renderTemplate, type TemplateData } from '../../email/engine/template.ts';
import { PieceError, TemplateError } from '../../email/engine/template-error.ts';
import { mistakesIn } from '../../email/lint/check-template.ts';
import { describeFault, noteWrongValue } from '../../email/lint/describe-fault.ts';
import { sayFinding, type TemplateFinding } from '../../email/lint/finding.ts';
import { ownText } from '../../email/lint/language-variables.ts';
import { sampleData } from '../../email/lint/template-samples.ts';
import { maxTryMs } from '../../email/lint/try-template.ts';
import { brandOf } from '../../email/message/brand.ts';
import { builtInTexts, localesOf, templateTexts } from '../../email/message/choose-texts.ts';
import { buildConfirmationUrl, testEmailToken } from '../../email/message/confirmation-url.ts';
import { buildMessage, type EmailMessage, type MessageData, spell } from '../../email/message/message.ts';
import { parseOptions, type TemplatePart } from '../../email/message/parse-options.ts';
import { toPlainText } from '../../email/message/plain-text.ts';
import { cleanSubject, cleanText } from '../../email/message/subject.ts';
import { isObject } from '../../shared/json.ts';
import { canonicalTag } from '../../shared/language-tag.ts';
import { ManagementError } from '../management-error.ts';
import {
  type DescribedEmail,
  draftFields,
  isObjectVariable,
  type RenderedDraft,
  type RenderedText,
} from './draft-schemas.ts';

/** The values that the sample of an email depends on. */
export interface SampleSettings {
  readonly config: AuthConfig;
  /** Public address of the auth service without a slash at the end. */
  readonly authUrl: string;
}

/** All emails, in the order of their table. @param start The values that apply if nothing is stored. */
export function describeEmails(project: SampleSettings, start: AuthConfig): readonly DescribedEmail[] {
  return emailKindNames.map((email) => {
    const enabledField = enabledFieldOf(email);
    return {
      email,
      title: emailKinds[email].title,
      sent: emailKinds[email].sent,
      group: enabledField === null ? 'authentication' : 'notification',
      subjectField: textFields(email).subject,
      contentField: textFields(email).content,
      textField: textFields(email).text,
      translationsField: translationsField(email),
      locales: localesOf(email, project.config),
      builtInLocales: project.config.mailer_compatible ? [] : [...builtInLocales],
      enabledField,
      variables: emailKinds[email].variables,
      defaults: builtInTexts(email, project.config),
      start: startTexts(email, start),
      sample: sampleOf(email, project),
    };
  });
}

function startTexts(email: EmailKind, start: AuthConfig): DescribedEmail['start'] {
  const { subject, content, text } = templateTexts(email, start);
  const builtIn = builtInTexts(email, start);
  return { subject: subject || builtIn.subject, content: content || builtIn.content, text: text ?? '' };
}

/** Addresses are those of the project, so that a trial shows where its links would lead. */
function sampleOf(email: EmailKind, { config, authUrl }: SampleSettings): TemplateData {
  const { site_url: siteUrl } = config;
  const sample = { ...sampleData(email)[0], SiteURL: siteUrl, Brand: brandOf(config), RedirectTo: siteUrl };
  if (!isLinkKind(email)) return sample;
  const link = { authUrl, linkToken: testEmailToken, redirectTo: siteUrl };
  return { ...sample, ConfirmationURL: buildConfirmationUrl(email, config, link) };
}

interface EmailDraft {
  readonly email: EmailKind;
  /** Language tag; empty: the email itself. */
  readonly locale: string;
  readonly subject: string;
  readonly content: string;
  /** Empty: made from the body. */
  readonly text: string;
  readonly data: TemplateData;
  /** With the layout and the partials of the draft. */
  readonly config: AuthConfig;
}

/**
 * Reads the fields of a draft. Missing texts are the current ones of the language, empty ones the built-in ones; missing
 * data are the sample's.
 *
 * @param more Further fields of the body.
 * @throws ManagementError `invalid_body`, `validation_failed`
 */
export function readDraft(body: unknown, project: SampleSettings, more: readonly string[] = []): EmailDraft {
  if (!isObject(body)) throw new ManagementError('invalid_body');
  const { email: name, locale: language, subject, content, text, data } = body;
  assertKnown(body, more);
  const email = emailKindNames.find((known) => known === name);
  if (email === undefined) refuseDraft(`email must be one of ${emailKindNames.join(', ')}`);
  const locale = readLocale(language);
  const config = readSurroundings(body, project.config);
  const inForce = templateTexts(email, config, locale);
  const builtIn = builtInTexts(email, config, locale || undefined);
  return {
    email,
    locale,
    config,
    subject: readDraftText('subject', subject, inForce.subject) || builtIn.subject,
    content: readDraftText('content', content, inForce.content) || builtIn.content,
    text: readDraftText('text', text, inForce.text ?? ''),
    data: {
      ...sampleOf(email, project),
      ...(locale !== '' && { Locale: locale }),
      ...completed(readData(email, data ?? {}), project.config),
    },
  };
}

/** @throws ManagementError `validation_failed` */
export function assertKnown(body: object, more: readonly string[] = []): void {
  const unknown = Object.keys(body).find((field) => !draftFields.includes(field) && !more.includes(field));
  if (unknown !== undefined) refuseDraft(`Unknown field "${unknown.slice(0, 80)}"`);
}

/** The configuration with the fields `layout` and `partials`. */
function readSurroundings({ layout, partials }: Readonly<Record<string, unknown>>, config: AuthConfig): AuthConfig {
  return {
    ...config,
    mailer_layout_content: readDraftText('layout', layout, config.mailer_layout_content ?? ''),
    mailer_partials: partials === undefined || partials === null ? config.mailer_partials : readPartials(partials),
  };
}

function readPartials(value: unknown): AuthConfig['mailer_partials'] {
  try {
    return authField('mailer_partials').kind.parse(value) as AuthConfig['mailer_partials'];
  } catch (error) {
    return refuseDraft(`partials ${(error as Error).message}`);
  }
}

/** @throws ManagementError `validation_failed` */
export function readLocale(value: unknown): string {
  if (value === undefined || value === null) return '';
  return canonicalTag(value) ?? refuseDraft('locale must be a language tag such as de or pt-BR');
}

/** @throws ManagementError `validation_failed` */
export function readDraftText(name: string, value: unknown, inForce: string): string {
  if (value === undefined || value === null) return inForce;
  return typeof value === 'string' ? value : refuseDraft(`${name} must be a string`);
}

function readData(email: EmailKind, data: unknown): TemplateData {
  if (!isObject(data)) refuseDraft('data must be a JSON object');
  const known: readonly string[] = emailKinds[email].variables;
  for (const [name, value] of Object.entries(data)) {
    if (!known.includes(name)) refuseDraft(`data: the email ${email} has no variable "${name.slice(0, 80)}"`);
    const isObjectOf = isObjectVariable(name);
    if (isObjectOf ? !isObject(value) : typeof value !== 'string') {
      refuseDraft(`data.${name} must be ${isObjectOf ? 'a JSON object' : 'a string'}`);
    }
  }
  return data;
}

/** A given code is spelled as the sample's is, and what a given brand lacks is the project's. */
function completed(data: TemplateData, config: AuthConfig): TemplateData {
  return {
    ...data,
    ...(typeof data.Token === 'string' && { SpelledToken: spell(data.Token) }),
    ...(data.Brand !== undefined && { Brand: brandOf({ ...config, ...brandFields(data.Brand) }) }),
  };
}

/** @throws ManagementError `validation_failed` */
export function refuseDraft(message: string): never {
  throw new ManagementError('validation_failed', message);
}

/** Renders a draft. */
export async function renderDraft(draft: EmailDraft): Promise<RenderedDraft> {
  const { email, locale, config } = draft;
  const subject = renderText('subject', draft);
  const content = renderText('content', draft);
  const textPart = draft.text === '' ? null : renderText('text', draft);
  const made = content.output === null ? null : await toPlainText(content.output);
  const builtIn = locale === '' ? null : builtInTexts(email, config, locale);
  return { subject, content, text: textPart === null ? made : textPart.output, textPart, builtIn };
}

function renderText(part: TemplatePart, { email, locale, data, config, ...texts }: EmailDraft): RenderedText {
  const source = texts[part];
  const base = locale === '' ? null : ownText(part, email, config);
  const wrong = new Map<string, TemplateFinding>();
  const options = parseOptions(part, config);
  const asWarnings = (found: Iterable<TemplateFinding>, refused: boolean) =>
    Array.from(found, (one) => ({ ...one, refused }));
  try {
    const template = parseTemplate(source, { ...options, maxMs: maxTryMs });
    const output = renderTemplate(template, data, {
      maxMs: maxTryMs,
      ...(config.mailer_template_lenient_compare && {
        onWrongValue: (message, place) => noteWrongValue(wrong, template, message, place),
      }),
    });
    const { warnings, deadEnds } = mistakesIn(template, { part, email, base }, config, wrong);
    return {
      output: part === 'subject' ? cleanSubject(output) : part === 'text' ? cleanText(output) : output,
      fault: null,
      warnings: [...asWarnings(warnings, false), ...asWarnings(deadEnds, true)],
    };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const { phase, code } = error;
    const fault = { phase, code, ...describeFault(error, source, email), piece: pieceOf(error, email) };
    return { output: null, fault, warnings: asWarnings(wrong.values(), false) };
  }
}

/** The fault in the text of its layout or partial; null: it is in the template itself. */
function pieceOf(error: TemplateError, email: EmailKind) {
  if (!(error instanceof PieceError)) return null;
  return { title: error.title, ...describeFault(error.fault, error.source, email) };
}

/** A test email: the draft, sent to `to`. @throws ManagementError `validation_failed` */
export function buildTrial(draft: EmailDraft, to: unknown): EmailMessage {
  if (typeof to !== 'string' || to.length > 255) refuseDraft('to must be an email address');
  const problem = checkEmail(to);
  if (problem !== null) refuseDraft(`to ${problem}`);
  const { email, subject, content, text: textPart, config } = draft;
  const data: TemplateData = 'SendingTo' in draft.data ? { ...draft.data, SendingTo: to } : draft.data;
  for (const part of ['subject', 'content', 'text'] as const) {
    const { fault } = renderText(part, { ...draft, data });
    if (fault !== null) refuseDraft(sayFinding(fault));
  }
  const fields = textFields(email);
  const texts = { [fields.subject]: subject, [fields.content]: content, [fields.text]: textPart };
  const text = (name: EmailVariable) => String(data[name] ?? '');
  const locale = canonicalTag(text('Locale')) ?? '';
  const facts = { ...factsOf(data, text), to, languages: [locale] };
  // The draft is the text of its language, so the stored translations do not count.
  const language = { [translationsField(email)]: locale === '' ? null : { [locale]: {} } };
  const look = { ...brandFields(data.Brand), site_url: text('SiteURL') };
  const message = buildMessage(email, { ...config, ...texts, ...language, ...look }, facts);
  return { ...message, subject: `[Test] ${message.subject}` };
}

/** The fields that a given `.Brand` stands for. */
function brandFields(brand: unknown): Partial<AuthConfig> {
  const { Name, LogoURL, Color, Footer } = (isObject(brand) ? brand : {}) as Readonly<Record<string, unknown>>;
  return {
    ...(typeof Name === 'string' && { mailer_brand_name: Name }),
    ...(typeof LogoURL === 'string' && { mailer_brand_logo_url: LogoURL }),
    ...(typeof Color === 'string' && checkColor(Color) === null && { mailer_brand_color: Color }),
    ...(typeof Footer === 'string' && { mailer_brand_footer: Footer }),
  };
}

function factsOf(
  data: TemplateData,
  text: (name: EmailVariable) => string,
): Required<Omit<MessageData, 'to' | 'languages'>> {
  return {
    email: text('Email'),
    userMetadata: (data.Data ?? {}) as Readonly<Record<string, unknown>>,
    redirectTo: text('RedirectTo'),
    token: text('Token'),
    tokenHash: text('TokenHash'),
    confirmationUrl: text('ConfirmationURL'),
    newEmail: text('NewEmail'),
    oldEmail: text('OldEmail'),
    phone: text('Phone'),
    oldPhone: text('OldPhone'),
    provider: text('Provider'),
    factorType: text('FactorType'),
    hasPassword: data.HasPassword === true,
  };
}
