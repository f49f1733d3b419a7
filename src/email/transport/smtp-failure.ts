/**
 * Turns errors of the SMTP client into typed errors with a sentence for the operator.
 *
 * Of a server's answer only the numbers are quoted (`535 5.7.8`): the text may repeat the recipient, the login or
 * content.
 */
import type { NodemailerError } from 'nodemailer/lib/errors';
import { EmailError, type EmailErrorCode } from './email-error.ts';
import type { SmtpSettings } from './smtp-settings.ts';

/** @param attempt `timedOut`: the message's time limit caused it. */
export function toEmailError(
  error: NodemailerError,
  settings: SmtpSettings,
  { to, timedOut }: { readonly to: string; readonly timedOut: boolean },
): EmailError {
  const server = `The mail server ${settings.host}:${settings.port}`;
  const code = timedOut ? 'timed_out' : codeOf(error);
  const { [code]: advice } = advices;
  const sentence = `${server} ${sentences[code](detailOf(error))}${advice === undefined ? '' : ` ${advice}`}`;
  if (error.response === undefined) return new EmailError(code, sentence);
  const answer = shownAnswer(error.response, to);
  return new EmailError(code, sentence, advice === undefined ? answer : `${answer} (${advice})`);
}

/** Longest answer that is listed, in characters. */
const maxAnswerLength = 300;

/** Digits that may be a code, also in a subject that a server quotes as it was encoded. */
const maybeCode = /(?<==[\dA-F]{2}|(?<![A-Za-z\d]))\d{6,10}(?![A-Za-z\d])/g;

/**
 * An answer of a mail server for the operator: on one line, without addresses, links and what may be a code.
 *
 * @param to The recipient, whose address may be quoted without its domain.
 */
export function shownAnswer(response: string, to: string): string {
  const words = response
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .split(/ +/);
  // A filter may quote a link without its scheme, or its token alone.
  const isLink = (word: string) => word.includes('://') || /[?&=]token|[0-9a-f]{32}/i.test(word);
  const name = to.slice(0, Math.max(0, to.lastIndexOf('@'))).toLowerCase();
  const bare = (word: string) => word.toLowerCase().replace(/^[<("'[]+|(?<![>)"'\],.:;])[>)"'\],.:;]+$/g, '');
  const isAddress = (word: string) => /@|%40/.test(word) || (name !== '' && bare(word) === name);
  const shown = words.map((word) => (isAddress(word) ? '[address]' : isLink(word) ? '[link]' : word));
  const line = shown.join(' ').replace(maybeCode, '[number]');
  return line.toWellFormed().slice(0, maxAnswerLength);
}

/** What an operator can do about an answer. */
const advices: Partial<Record<EmailErrorCode, string>> = {
  login_refused: 'Check smtp_user and smtp_pass.',
  sender_refused: 'Check smtp_admin_email.',
};

const sentences: Readonly<Record<EmailErrorCode, (detail: string) => string>> = {
  unreachable: (detail) => `is unreachable${detail}. Check smtp_host and smtp_port, and whether the server is running.`,
  tls_failed: (detail) =>
    `failed the TLS connection${detail}. Its certificate must be valid for smtp_host. Without TLS, emails need --allow-unencrypted-mail and no login.`,
  login_refused: (detail) => `rejected the login${detail}.`,
  sender_refused: (detail) => `rejected the sender${detail}.`,
  recipient_refused: (detail) => `rejected the recipient${detail}.`,
  message_refused: (detail) => `rejected the message${detail}.`,
  try_later: (detail) => `asked to retry later${detail}.`,
  recipient_later: (detail) => `asked to retry this recipient later${detail}.`,
  connection_lost: (detail) => `closed the connection before it accepted the message${detail}.`,
  timed_out: () => 'did not accept the message in time.',
  stopped: () => 'was not contacted because the gateway is stopping.',
};

/** Node's codes for certificates and TLS. */
const tlsCode = /CERT|TLS|SSL|SIGNATURE|ISSUER|^EPROTO$|^HOSTNAME_MISMATCH$/;

/** The server ends the connection, whatever it was asked. */
const closing = 421;

function codeOf(error: NodemailerError): EmailErrorCode {
  const { code = '', originalCode = '', responseCode, command = '' } = error;
  if (code === 'ETLS' || tlsCode.test(originalCode) || tlsCode.test(code)) return 'tls_failed';
  if (responseCode !== undefined && responseCode >= 400 && responseCode < 500) {
    return command.startsWith('RCPT') && responseCode !== closing ? 'recipient_later' : 'try_later';
  }
  switch (code) {
    case 'EAUTH':
    case 'ENOAUTH':
      return 'login_refused';
    case 'EENVELOPE':
      if (command.startsWith('MAIL')) return 'sender_refused';
      return command.startsWith('DATA') ? 'message_refused' : 'recipient_refused';
    case 'EMESSAGE':
      return 'message_refused';
    case 'EDNS':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EPRIVATE':
      return 'unreachable';
    case 'ETIMEDOUT':
      return error.timeoutType === 'SOCKET_TIMEOUT' ? 'connection_lost' : 'unreachable';
    case 'ESOCKET':
      // The client uses the same code for a connection that broke during a message.
      return originalCode === 'ECONNRESET' || originalCode === 'EPIPE' ? 'connection_lost' : 'unreachable';
    default:
      return 'connection_lost';
  }
}

/** ` (535 5.7.8)`, ` (ECONNREFUSED)`, or nothing. */
function detailOf({ response, responseCode, originalCode, code }: NodemailerError): string {
  if (responseCode !== undefined) {
    const [, enhanced] = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(response ?? '') ?? [];
    return ` (${responseCode}${enhanced === undefined ? '' : ` ${enhanced}`})`;
  }
  const reason = originalCode ?? code;
  return reason === undefined ? '' : ` (${reason})`;
}
