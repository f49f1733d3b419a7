/** Sends messages through the HTTP API of a mail service. Time limits, retries and errors are those of SMTP. */
import { type Clock, systemClock } from '../../../shared/clock.ts';
import { type Egress, unrestrictedEgress } from '../../../shared/egress/egress.ts';
import { type PostAnswer, PostError, postLimited } from '../../../shared/egress/post-limited.ts';
import { parseJson } from '../../../shared/json.ts';
import type { EmailMessage } from '../../message/message.ts';
import { textPartOf } from '../../message/plain-text.ts';
import { EmailError, type EmailErrorCode } from '../email-error.ts';
import { trackedTransport } from '../tracked-transport.ts';
import type { EmailTransport, Receipt } from '../transport.ts';
import type { MailService, ServiceSettings } from './mail-service.ts';
import { postmark } from './postmark.ts';
import { resend } from './resend.ts';
import { sendgrid } from './sendgrid.ts';
import { ses } from './ses.ts';

/** All services, by the values of `mailer_transport`. */
const services = { ses, postmark, resend, sendgrid } as const satisfies Record<string, MailService>;

/** Name of a service. */
export type MailServiceName = keyof typeof services;

/** Limits, and settings for tests. */
interface ServiceTransportOptions {
  /** Time limit of one message in milliseconds. */
  readonly timeoutMs?: number;
  readonly clock?: Clock;
  readonly egress?: Egress;
}

/** Answers have an id or an error. */
const maxAnswerBytes = 65_536;

/** Which service, and its login; the address is null for the service's own. */
interface NamedService extends Pick<ServiceSettings, 'apiKey'> {
  readonly name: MailServiceName;
  readonly url: string | null;
}

/** Makes the transport; connections are those of `egress`. */
export function createServiceTransport(
  { name, apiKey, url: given }: NamedService,
  { timeoutMs = 10_000, clock = systemClock, egress = unrestrictedEgress }: ServiceTransportOptions = {},
): EmailTransport {
  const service = services[name];
  const url = (given || service.url).replace(/(?<!\/)\/+$/, '');

  async function hand(message: EmailMessage): Promise<Receipt> {
    const plainText = await textPartOf(message);
    const full = { ...message, plainText, date: new Date(clock.now()) };
    const { path, headers, body } = await service.toRequest(full, { url, apiKey });
    const answer = await postLimited(`${url}${path}`, {
      headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
      body,
      signal: AbortSignal.timeout(timeoutMs),
      maxBytes: maxAnswerBytes,
      fetch: egress.fetchFor(url),
    }).catch((error: unknown) => {
      throw error instanceof PostError
        ? new EmailError(failures[error.failure], `${name} ${said[error.failure]}.`)
        : error;
    });
    const json = parseJson(answer.text);
    if (answer.status >= 200 && answer.status < 300) {
      const messageId = service.idOf(answer, json)?.slice(0, 200) ?? null;
      return { state: 'sent', answer: `HTTP ${answer.status}`, messageId };
    }
    const word = service.codeOf(json);
    // The text of the answer may quote the address.
    const code = word !== null && /^[\w.-]{1,60}$/.test(word) ? ` ${word}` : '';
    const refusal = service.refusalOf(answer, json) ?? refusalOf(answer);
    throw new EmailError(
      refusal,
      `${name} ${sentences[refusal]} (HTTP ${answer.status}${code}).`,
      `HTTP ${answer.status}${code}`,
    );
  }

  return trackedTransport(hand);
}

function refusalOf({ status }: PostAnswer): EmailErrorCode {
  if (status === 401 || status === 403) return 'login_refused';
  // A redirect or an unknown path is a wrong address of the service, which an operator will correct.
  if (status === 429 || status >= 500 || status < 400 || status === 404) return 'try_later';
  return 'message_refused';
}

const failures = { timed_out: 'timed_out', unreachable: 'unreachable', too_large: 'try_later' } as const;

const said = {
  timed_out: 'did not accept the message in time',
  unreachable: 'is unreachable. Check mailer_api_url',
  too_large: 'gave an answer that is too large. Check mailer_api_url',
} as const;

const sentences: Readonly<Record<EmailErrorCode, string>> = {
  unreachable: said.unreachable,
  timed_out: said.timed_out,
  tls_failed: 'failed the TLS connection',
  login_refused: 'rejected the login. Check mailer_api_key',
  sender_refused: 'rejected the sender. Check smtp_admin_email',
  recipient_refused: 'rejected the recipient',
  message_refused: 'rejected the message',
  try_later: 'did not take the message now',
  recipient_later: 'did not take a message to the recipient now',
  connection_lost: 'closed the connection',
  stopped: 'was not contacted because the gateway is stopping',
};
