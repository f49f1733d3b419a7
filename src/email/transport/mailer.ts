/**
 * Sends messages by the current configuration: to its mail server or mail service, or into the inbox if none is set.
 *
 * The configuration may change at any time, so every call passes it. A transport is kept while its settings stay the
 * same; after a change, the old one finishes its messages.
 */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import { type FailedOutcome, observeCall } from '../../shared/external-call.ts';
import { parseExtraHeaders } from '../message/extra-headers.ts';
import type { EmailMessage } from '../message/message.ts';
import { type CapturedTransportParts, createCapturedTransport } from './captured-transport.ts';
import { EmailError } from './email-error.ts';
import { createServiceTransport } from './services/service-transport.ts';
import { smtpSettings } from './smtp-settings.ts';
import { createSmtpTransport, type SmtpTransportOptions } from './smtp-transport.ts';
import type { EmailTransport, Receipt } from './transport.ts';

/** What the mailer needs; `reach` limits where the mail server may be. */
interface MailerParts extends CapturedTransportParts, SmtpTransportOptions {
  /** Public base of the auth service: `https://db.example.net/auth/v1`. */
  readonly authUrl: string;
}

/** Sends messages. */
export interface Mailer {
  /**
   * Sends the messages, several (both halves of an email change) in parallel, and waits for all. Takes at most the time
   * limit, so a transaction may stay open meanwhile and be rolled back on failure.
   *
   * @returns A receipt for each message.
   * @throws EmailError of the first failed message. Others may have been sent.
   */
  deliver(config: AuthConfig, ...messages: readonly EmailMessage[]): Promise<readonly Receipt[]>;
  /** Refuses new messages and waits for those being sent. */
  stop(): Promise<void>;
}

/** Whether emails go to the inbox instead of a mail server or service. */
export function isEmailCaptured(config: Pick<AuthConfig, 'smtp_host' | 'mailer_transport'>): boolean {
  return config.mailer_transport === 'smtp' && !config.smtp_host;
}

/** Gmail shows 102 KB. */
const maxWholeBytes = 100 * 1024;

interface Chosen {
  readonly key: string;
  readonly open: () => EmailTransport;
}

interface Current {
  readonly key: string;
  readonly transport: EmailTransport;
}

/** The transport that the configuration names; its key changes with its settings. Null: the inbox. */
function chosen(config: AuthConfig, parts: MailerParts): Chosen | null {
  const { mailer_transport: name, mailer_api_key: apiKey, mailer_api_url: url } = config;
  if (name !== 'smtp') {
    const service = { name, url, apiKey: apiKey ?? '' };
    return { key: JSON.stringify(service), open: () => createServiceTransport(service, parts) };
  }
  const settings = smtpSettings(config, parts.authUrl);
  if (settings === null) return null;
  return { key: JSON.stringify(settings), open: () => createSmtpTransport(settings, parts) };
}

/** `refused`: the server took the call, and not this message. */
function outcomeOf(error: unknown): FailedOutcome {
  const isRefusal =
    error instanceof EmailError && ['recipient_refused', 'message_refused', 'recipient_later'].includes(error.code);
  return isRefusal ? 'refused' : 'failed';
}

/** Makes the mailer; connects when first used. */
export function createMailer(parts: MailerParts): Mailer {
  const captured = createCapturedTransport(parts);
  const retired = new Set<Promise<void>>();
  let current: Current | null = null;
  const large = new Set<EmailMessage['kind']>();
  let warnedOf: string | null = null;
  let stopped = false;

  function transportFor(config: AuthConfig): EmailTransport {
    const named = chosen(config, parts);
    if (named === null) return captured;
    const { key, open } = named;
    if (current?.key === key) return current.transport;
    if (current !== null) retire(current.transport);
    current = { key, transport: open() };
    return current.transport;
  }

  function retire(transport: EmailTransport): void {
    const end = transport.stop().finally(() => retired.delete(end));
    retired.add(end);
  }

  /** Once for each kind: users choose how long their data are. */
  function warnOfLarge({ kind, html }: EmailMessage): void {
    const bytes = Buffer.byteLength(html);
    if (bytes <= maxWholeBytes || large.has(kind)) return;
    large.add(kind);
    const message = `The ${kind} email has ${Math.ceil(bytes / 1024)} KB. Mail programs such as Gmail cut emails of more than 100 KB.`;
    parts.observe({ kind: 'warning', message, hint: 'Shorten its template.' });
  }

  function warn({ smtp_headers }: AuthConfig): void {
    if (smtp_headers === warnedOf) return;
    warnedOf = smtp_headers;
    if (parseExtraHeaders(smtp_headers) !== null) return;
    const hint = 'Write it as {"Header-Name": ["value"]}.';
    parts.observe({ kind: 'warning', message: 'smtp_headers is not a JSON object and is ignored.', hint });
  }

  return {
    async deliver(config, ...messages) {
      if (stopped) throw new EmailError('stopped', 'The gateway is stopping and sends no more emails.');
      warn(config);
      messages.forEach(warnOfLarge);
      const transport = transportFor(config);
      const call = { service: 'email', name: config.mailer_transport } as const;
      const send = (message: EmailMessage) => transport.send(message);
      const observed = (message: EmailMessage) =>
        transport === captured ? send(message) : observeCall(parts.observe, call, () => send(message), outcomeOf);
      const results = await Promise.allSettled(messages.map(observed));
      return results.map((result) => {
        if (result.status === 'rejected') throw result.reason;
        return result.value;
      });
    },
    async stop() {
      stopped = true;
      if (current !== null) retire(current.transport);
      await Promise.all([captured.stop(), ...retired]);
    },
  };
}
