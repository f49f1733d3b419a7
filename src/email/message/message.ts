/**
 * Builds a message from kind, configuration and data.
 *
 * User input enters only through the template's data: addresses are checked, the subject is one line, and the template
 * engine escapes the body.
 */
import { randomUUID } from 'node:crypto';
import { domainToASCII } from 'node:url';
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import { type EmailKind, type EmailVariable, emailKinds } from '../../config/auth/email-kinds.ts';
import { invariant } from '../../shared/invariant.ts';
import { renderTemplate, type Template, type TemplateData } from '../engine/template.ts';
import { brandOf } from './brand.ts';
import { chooseLocale, templateTexts } from './choose-texts.ts';
import { type ExtraHeaders, messageHeaders } from './extra-headers.ts';
import { parseOptions, type TemplatePart } from './parse-options.ts';
import { cleanSubject, cleanText } from './subject.ts';
import { cachedTemplate } from './template-cache.ts';

/** A name and an address; the name may be empty. */
interface Mailbox {
  readonly name: string;
  readonly address: string;
}

/** A complete email, except for the date. Plain data: it may be stored as JSON and sent later. */
export interface EmailMessage {
  readonly kind: EmailKind;
  readonly from: Mailbox;
  /** The only recipient. */
  readonly to: string;
  /** One line. */
  readonly subject: string;
  readonly html: string;
  /** The text part. Null: made from `html` when it is sent, because that takes longer than all else. Absent: none. */
  readonly text?: string | null;
  /** In addition to the standard headers. */
  readonly headers: ExtraHeaders;
  /** Language tag of its texts; empty: unknown. */
  readonly locale: string;
  /** With its angle brackets. */
  readonly messageId: string;
}

/** The data of one email. `emailKinds` lists the optional members that a kind needs. */
export interface MessageData {
  /** The recipient; also `.SendingTo`. */
  readonly to: string;
  /** `.Email`: the present address of the user, empty for an anonymous one. */
  readonly email: string;
  /** `.Data` */
  readonly userMetadata: Readonly<Record<string, unknown>>;
  /** Languages that the recipient reads, best first, as canonical tags; absent: unknown. */
  readonly languages?: readonly string[];
  /** `.RedirectTo`, resolved. */
  readonly redirectTo: string;
  readonly token?: string;
  /** With the prefix `pkce_` in the PKCE flow. */
  readonly tokenHash?: string;
  /** `.HasPassword`: the sign-up that is to be confirmed has chosen a password. */
  readonly hasPassword?: boolean;
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

/** Random and clock, for deterministic tests, and a callback for tolerated faults. */
interface MessageTools {
  readonly newId?: () => string;
  /** A value had a wrong type, tolerated because `mailer_template_lenient_compare` is on. Lines count from 1. */
  readonly onWarning?: (part: TemplatePart, line: number) => void;
}

/** Builds the message. @throws TemplateError if a configured text is not a valid template, or fails with these data. */
export function buildMessage(
  kind: EmailKind,
  config: AuthConfig,
  data: MessageData,
  tools: MessageTools = {},
): EmailMessage {
  const locale = chooseLocale(kind, config, data.languages ?? []);
  const { from, idHost, headers, templates } = prepare(kind, config, locale);
  const variables = templateData(kind, config, { ...data, locale });
  const { newId = randomUUID, onWarning = () => {} } = tools;
  const render = (part: TemplatePart, template: Template): string =>
    renderTemplate(template, variables, {
      ...(config.mailer_template_lenient_compare && {
        onWrongValue: (_message, { line }) => onWarning(part, line),
      }),
    });
  const { subject, content, text } = templates;
  return {
    kind,
    from,
    to: data.to,
    subject: cleanSubject(render('subject', subject)),
    html: render('content', content),
    ...(!config.mailer_compatible && { text: text === null ? null : cleanText(render('text', text)) }),
    headers,
    locale,
    messageId: `<${newId()}@${idHost}>`,
  };
}

/** What all emails of a kind have in common under a configuration. */
interface Prepared {
  readonly from: Mailbox;
  /** The host in ids of messages. */
  readonly idHost: string;
  readonly headers: ExtraHeaders;
  readonly templates: { readonly subject: Template; readonly content: Template; readonly text: Template | null };
}

/** A configuration never changes, so it is read once. */
const prepared = new WeakMap<AuthConfig, Map<string, Prepared>>();

function prepare(kind: EmailKind, config: AuthConfig, locale: string): Prepared {
  const kinds = prepared.get(config) ?? new Map<string, Prepared>();
  if (kinds.size === 0) prepared.set(config, kinds);
  const name = `${kind} ${locale}`;
  let known = kinds.get(name);
  if (known === undefined) {
    const { subject, content, text } = templateTexts(kind, config, locale);
    const parse = (part: TemplatePart, source: string) => cachedTemplate(source, parseOptions(part, config));
    const from = senderOf(config);
    known = {
      from,
      idHost: hostOf(from.address),
      headers: messageHeaders(config, kind),
      templates: {
        subject: parse('subject', subject),
        content: parse('content', content),
        text: text === null ? null : parse('text', text),
      },
    };
    kinds.set(name, known);
  }
  return known;
}

/** The data of a kind's template. Also for previews with sample data. */
function templateData(
  kind: EmailKind,
  config: AuthConfig,
  data: MessageData & { readonly locale: string },
): TemplateData {
  const values: Readonly<Record<EmailVariable, unknown>> = {
    SiteURL: config.site_url,
    Brand: brandOf(config),
    Locale: data.locale,
    Data: data.userMetadata,
    Email: data.email,
    RedirectTo: data.redirectTo,
    Token: data.token,
    SpelledToken: data.token === undefined ? undefined : spell(data.token),
    TokenHash: data.tokenHash,
    ConfirmationURL: data.confirmationUrl,
    NewEmail: data.newEmail,
    SendingTo: data.to,
    OldEmail: data.oldEmail,
    Phone: data.phone,
    OldPhone: data.oldPhone,
    Provider: data.provider,
    FactorType: data.factorType,
    HasPassword: data.hasPassword ?? false,
  };
  const chosen: Record<string, unknown> = {};
  for (const name of emailKinds[kind].variables) {
    invariant(values[name] !== undefined, `the email ${kind} was built without ${name}`);
    chosen[name] = values[name];
  }
  return chosen;
}

/** `012345` -> `0 1 2 3 4 5`: screen readers would read one large number. */
export function spell(code: string): string {
  return [...code].join(' ');
}

/** The sender. Without a configured address, a no-reply address at the application's host. */
function senderOf({ smtp_admin_email, smtp_sender_name, site_url }: AuthConfig): Mailbox {
  const address = smtp_admin_email || `noreply@${URL.parse(site_url)?.hostname || 'localhost'}`;
  return { name: cleanSubject(smtp_sender_name ?? ''), address };
}

/** In ASCII, as ids of messages are. */
function hostOf(address: string): string {
  const host = address.slice(address.lastIndexOf('@') + 1);
  return domainToASCII(host) || host || 'localhost';
}
