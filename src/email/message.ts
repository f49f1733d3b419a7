/**
 * A kind of email, the configuration and the facts of one occasion -> the message that is sent or captured.
 *
 * All that users can put into a message comes in through the template's data: the addresses are checked, the subject is
 * one line, the body is escaped by the template engine.
 */
import { randomUUID } from 'node:crypto';
import type { AuthConfig } from '../config/auth/auth-config.ts';
import { invariant } from '../shared/invariant.ts';
import { defaultTemplates, type TemplateTexts } from './default-templates.ts';
import { type EmailKind, type EmailVariable, emailKinds } from './email-kind.ts';
import { type ExtraHeaders, extraHeaders } from './extra-headers.ts';
import { parseOptions, type TemplatePart } from './parse-options.ts';
import { cleanSubject } from './subject.ts';
import { renderTemplate, type TemplateData } from './template/template.ts';
import { cachedTemplate } from './template-cache.ts';

/** A name and an address; the name is empty where there is none. */
interface Mailbox {
  readonly name: string;
  readonly address: string;
}

/** An email, complete but for the time of sending. Plain data: it may be stored as JSON and sent later. */
export interface EmailMessage {
  readonly kind: EmailKind;
  readonly from: Mailbox;
  /** The only recipient. */
  readonly to: string;
  /** One line. */
  readonly subject: string;
  readonly html: string;
  /** Beside those that every message has. */
  readonly headers: ExtraHeaders;
  /** With its angle brackets. */
  readonly messageId: string;
}

/** The facts of one occasion. Which of the optional ones a kind needs is in `emailKinds`. */
export interface MessageData {
  /** Where it goes; also `.SendingTo`. */
  readonly to: string;
  /** `.Email`: the present address of the user, empty for an anonymous one. */
  readonly email: string;
  /** `.Data` */
  readonly userMetadata: Readonly<Record<string, unknown>>;
  /** `.RedirectTo`, resolved. */
  readonly redirectTo: string;
  readonly token?: string;
  /** With `pkce_` where the flow has it. */
  readonly tokenHash?: string;
  /** See confirmation-url.ts. */
  readonly confirmationUrl?: string;
  readonly newEmail?: string;
  readonly oldEmail?: string;
  /** Digits without a plus sign, as in `oldPhone`. */
  readonly phone?: string;
  readonly oldPhone?: string;
  readonly provider?: string;
  readonly factorType?: string;
}

/** What a test may hold still, and who is told what a template got away with. */
interface MessageTools {
  readonly newId?: () => string;
  /** A value was of a wrong kind, which is no error because `mailer_template_lenient_compare` is on. Lines count from 1. */
  readonly onWarning?: (part: TemplatePart, line: number) => void;
}

/**
 * Builds the message.
 *
 * @throws TemplateError where a text of the configuration is no template, or fails with these data.
 */
export function buildMessage(
  kind: EmailKind,
  config: AuthConfig,
  data: MessageData,
  tools: MessageTools = {},
): EmailMessage {
  const variables = templateData(kind, config, data);
  const { newId = randomUUID, onWarning = () => {} } = tools;
  const from = senderOf(config);
  const render = (part: TemplatePart): string => {
    const template = cachedTemplate(templateTexts(kind, config)[part], parseOptions(part, config));
    const isLenient = config.mailer_template_lenient_compare;
    return renderTemplate(template, variables, {
      ...(isLenient && { onWrongValue: (_message, { line }) => onWarning(part, line) }),
    });
  };
  return {
    kind,
    from,
    to: data.to,
    subject: cleanSubject(render('subject')),
    html: render('content'),
    headers: extraHeaders(config.smtp_headers, emailKinds[kind].messageType),
    messageId: `<${newId()}@${hostOf(from.address)}>`,
  };
}

/** The texts in force: those of the configuration, or the built-in ones where it has none. */
export function templateTexts(kind: EmailKind, config: AuthConfig): TemplateTexts {
  const { subject, content } = defaultTemplates[kind];
  return {
    subject: config[`mailer_subjects_${kind}`] || subject,
    content: config[`mailer_templates_${kind}_content`] || content,
  };
}

/** What the template of a kind sees. Also for previews with made-up facts. */
function templateData(kind: EmailKind, config: Pick<AuthConfig, 'site_url'>, data: MessageData): TemplateData {
  const values: Readonly<Record<EmailVariable, unknown>> = {
    SiteURL: config.site_url,
    Data: data.userMetadata,
    Email: data.email,
    RedirectTo: data.redirectTo,
    Token: data.token,
    TokenHash: data.tokenHash,
    ConfirmationURL: data.confirmationUrl,
    NewEmail: data.newEmail,
    SendingTo: data.to,
    OldEmail: data.oldEmail,
    Phone: data.phone,
    OldPhone: data.oldPhone,
    Provider: data.provider,
    FactorType: data.factorType,
  };
  const entries = emailKinds[kind].variables.map((name) => {
    invariant(values[name] !== undefined, `the email ${kind} was built without ${name}`);
    return [name, values[name]] as const;
  });
  return Object.fromEntries(entries);
}

/** The sender. Without an address in the configuration it is one that cannot be answered, at the application's host. */
function senderOf({ smtp_admin_email, smtp_sender_name, site_url }: AuthConfig): Mailbox {
  const address = smtp_admin_email || `noreply@${URL.parse(site_url)?.hostname || 'localhost'}`;
  return { name: cleanSubject(smtp_sender_name ?? ''), address };
}

function hostOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1) || 'localhost';
}
