/**
 * Sends messages to a mail server over SMTP, on a few reused connections.
 *
 * Encrypted from the first byte on port 465, otherwise by STARTTLS; the certificate must be trusted. Unencrypted
 * messages only to this machine or if the operator allows it; an unencrypted login only to this machine.
 */
import { connect, type Socket } from 'node:net';
import type { NodemailerError } from 'nodemailer/lib/errors';
import { type Clock, systemClock } from '../../shared/clock.ts';
import { type Egress, unrestrictedEgress } from '../../shared/egress/egress.ts';
import { isLoopback } from '../../shared/loopback.ts';
import type { EmailMessage } from '../message/message.ts';
import { composeMessage } from './compose-message.ts';
import { shownAnswer, toEmailError } from './smtp-failure.ts';
import type { SmtpSettings } from './smtp-settings.ts';
import { trackedTransport } from './tracked-transport.ts';
import type { EmailTransport, Receipt } from './transport.ts';

/** Time limit of connecting, greeting and TLS, in milliseconds. */
const connectTimeoutMs = 10_000;

/** Limits, and settings for tests. */
export interface SmtpTransportOptions {
  /** Time limit of one message in milliseconds, including the wait for a connection. */
  readonly timeoutMs?: number;
  readonly clock?: Clock;
  readonly egress?: Egress;
  /** Allows sending messages, with links and codes, to another machine unencrypted. */
  readonly allowUnencrypted?: boolean;
}

/** Most simultaneous connections to the server. */
const maxConnections = 5;

/** Makes the transport; connects when first used. */
export function createSmtpTransport(settings: SmtpSettings, options: SmtpTransportOptions = {}): EmailTransport {
  const { timeoutMs = 10_000, clock = systemClock, egress = unrestrictedEgress, allowUnencrypted = false } = options;
  let pool: ReturnType<typeof openPool> | null = null;

  async function hand(message: EmailMessage): Promise<Receipt> {
    const raw = await composeMessage(message, new Date(clock.now()));
    const signal = AbortSignal.timeout(timeoutMs);
    const envelope = { from: message.from.address, to: [message.to] };
    try {
      pool ??= openPool(settings, egress, allowUnencrypted);
      const { response } = await (await pool).sendMail({ envelope, raw, messageId: message.messageId, signal });
      const answer = shownAnswer(response ?? '', message.to);
      return { state: 'sent', answer, messageId: sesIdIn(response ?? '', settings) };
    } catch (error) {
      throw toEmailError(error as NodemailerError, settings, { to: message.to, timedOut: signal.aborted });
    }
  }

  return trackedTransport(hand, async () => (await pool)?.close({ force: true }));
}

/** Whether a mail server is that of Amazon SES. */
export function isSes(host: string | null): boolean {
  return /^email-smtp[a-z-]*\.[a-z0-9-]+\.amazonaws\.com(\.cn)?$/i.test(host ?? '');
}

/** Amazon SES gives each email an id of its own, by which it tells of it later. Others keep ours: null. */
function sesIdIn(response: string, { host }: SmtpSettings): string | null {
  const [, id = null] = (isSes(host) && /^250 (?:\d\.\d\.\d )?Ok ([0-9a-z-]{16,200})$/i.exec(response.trim())) || [];
  return id;
}

/** Loads the mailer with the first email: most processes of a large deployment send none. */
async function openPool(settings: SmtpSettings, egress: Egress, allowUnencrypted: boolean) {
  const { createTransport } = await import('nodemailer');
  return createTransport({ ...poolOptions(settings, allowUnencrypted), getSocket: socketFinder(settings, egress) });
}

/**
 * Connects to the checked address: the client itself would look the name up again, and may get another address by then.
 * The server's name stays that of its certificate.
 */
function socketFinder({ host, port }: SmtpSettings, egress: Egress) {
  type Answer = (error: Error | null, options?: { readonly connection?: Socket }) => void;
  return (_options: unknown, answer: Answer): void => {
    const found = egress.resolve(host, port);
    found.then(
      (address) => {
        if (address === host) return answer(null, {});
        open(address, port, answer);
      },
      (error) => answer(error),
    );
  };

  /** Fails as the client would. */
  function open(address: string, at: number, answer: Answer): void {
    const connection = connect({ host: address, port: at, timeout: connectTimeoutMs });
    const fail = (code: string, originalCode?: string) => {
      connection.destroy();
      answer(Object.assign(new Error('The connection failed'), { code, originalCode }));
    };
    connection.once('timeout', () => fail('ETIMEDOUT'));
    connection.once('error', ({ code }: NodeJS.ErrnoException) => fail('ESOCKET', code));
    connection.once('connect', () => {
      connection.removeAllListeners().setTimeout(0);
      answer(null, { connection });
    });
  }
}

function poolOptions({ host, port, implicitTls, login, dkim, greetingName }: SmtpSettings, allowUnencrypted: boolean) {
  return {
    pool: true as const,
    host,
    port,
    secure: implicitTls,
    // Require TLS even if an attacker in between removes STARTTLS from the greeting.
    requireTLS: !implicitTls && !isLoopback(host) && (login !== null || !allowUnencrypted),
    ...(login !== null && { auth: { user: login.user, pass: login.password } }),
    ...(dkim !== null && {
      dkim: { domainName: dkim.domain, keySelector: dkim.selector, privateKey: dkim.privateKey },
    }),
    name: greetingName,
    maxConnections,
    // Retries once, because the server may have closed a kept connection.
    maxRequeues: 1,
    connectionTimeout: connectTimeoutMs,
    greetingTimeout: connectTimeoutMs,
    socketTimeout: 60_000,
    dnsTimeout: connectTimeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
    logger: false,
  };
}
