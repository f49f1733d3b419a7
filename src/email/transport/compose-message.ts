/**
 * Encodes a message for SMTP: headers by RFC 2047, its text and its HTML in quoted-printable.
 *
 * The SMTP transport and the inbox share these bytes, so the source in the inbox is what would be sent.
 */
import type { EmailMessage } from '../message/message.ts';
import { textPartOf } from '../message/plain-text.ts';

/** Longer words of a header are encoded, so that lines can be broken inside them. */
const maxWordLength = 70;

/** The whole message with CRLF line ends. @param date Time of sending. */
export async function composeMessage(message: EmailMessage, date: Date): Promise<Buffer> {
  // Loaded with the first message, like all code for emails.
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
  const extra = Object.entries(message.headers).map(([name, value]) => [
    name,
    isReady(name, value) ? prepared(value) : value,
  ]);
  const text = await textPartOf(message);
  const html = { contentType: 'text/html; charset=UTF-8', content: message.html };
  return new MailComposer({
    from: { ...message.from },
    to: { name: '', address: message.to },
    date,
    messageId: message.messageId,
    headers: { ...Object.fromEntries(extra), Subject: headerText(message.subject) },
    // As an alternative, even a body without text stays HTML.
    alternatives: [...(text === null ? [] : [{ contentType: 'text/plain; charset=UTF-8', content: text }]), html],
    encoding: 'quoted-printable',
    textEncoding: 'Q',
    newline: 'win',
    // A message must never make nodemailer read a file or URL.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build();
}

/** A header value to be written unchanged, in lines of limited length. */
interface PreparedHeader {
  readonly value: string;
  readonly prepared: true;
  readonly foldLines: true;
}

const prepared = (value: string): PreparedHeader => ({ value, prepared: true, foldLines: true });

/** Headers that nodemailer parses and writes itself: addresses and ids. */
const structured = ['reply-to', 'sender', 'references'];

/**
 * Other headers are for programs, which hardly ever decode words: JSON and addresses in angle brackets must stay as
 * written. nodemailer would encode those with a quote.
 */
function isReady(name: string, text: string): boolean {
  return !structured.includes(name.toLowerCase()) && /^[\x20-\x7e]*$/.test(text);
}

/**
 * Leaves to nodemailer what it does well. Encodes long words, because it folds lines only between words, and text that
 * looks like an encoded word, which a reader would decode.
 */
function headerText(text: string): string | PreparedHeader {
  const isPlain = /^[\x20-\x7e]*$/.test(text);
  const needsWords = text.includes('=?') || text.split(' ').some((word) => word.length > maxWordLength);
  if (!isPlain || !needsWords) return text;
  return prepared(encodeWords(text));
}

/** RFC 2047 words of at most 75 characters, joined by blanks that readers drop. For printable ASCII. */
function encodeWords(text: string): string {
  const pieces = text.match(/.{1,20}/g) ?? [];
  return pieces.map((piece) => `=?UTF-8?Q?${encodePiece(piece)}?=`).join(' ');
}

function encodePiece(piece: string): string {
  return piece
    .replace(/[^A-Za-z0-9!*+\-/ ]/g, (character) => `=${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll(' ', '_');
}
