/**
 * A message -> the bytes that go over the wire (auth.md 5.5): headers encoded by RFC 2047, one HTML part in
 * quoted-printable.
 *
 * The SMTP transport and the inbox use the same bytes, so what the inbox shows as the source is what would be sent.
 */
import type { EmailMessage } from './message.ts';

/** Words of a header that are longer are encoded, so that lines can be broken inside them. */
const maxWordLength = 70;

/**
 * The whole message with CRLF line ends.
 *
 * @param date Time of sending.
 */
export async function composeMessage(message: EmailMessage, date: Date): Promise<Buffer> {
  // Loaded with the first message, as everything that only emails need.
  const [{ default: MimeNode }, { foldLines }] = await Promise.all([
    import('nodemailer/lib/mime-node'),
    import('nodemailer/lib/mime-funcs'),
  ]);
  const written = new Map(Object.keys(message.headers).map((name) => [name.toLowerCase(), name]));
  // No file and no URL is ever read for a message, whatever stands in it.
  const node = new MimeNode('text/html; charset=UTF-8', {
    textEncoding: 'Q',
    newline: 'win',
    // Names of extra headers stay as they were written.
    normalizeHeaderKey: (name) => written.get(name.toLowerCase()) ?? name,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const extra = Object.entries(message.headers);
  const ready = extra.filter(([name, value]) => isReady(name, value));
  for (const [name, value] of extra) if (!isReady(name, value)) node.setHeader(name, value);
  node.setHeader({
    From: { ...message.from },
    To: { name: '', address: message.to },
    Subject: headerText(message.subject),
    Date: date,
    'Message-ID': message.messageId,
    'MIME-Version': '1.0',
    'Content-Transfer-Encoding': 'quoted-printable',
  });
  node.setContent(message.html);
  const first = ready.map(([name, value]) => `${foldLines(`${name}: ${value}`)}\r\n`).join('');
  return Buffer.concat([Buffer.from(first), await node.build()]);
}

/** Headers that nodemailer takes apart and writes itself: addresses and ids. */
const structured = ['reply-to', 'sender', 'references'];

/**
 * Programs read the others, and hardly one of them decodes words: JSON and addresses in angle brackets arrive as they were
 * written. nodemailer would encode what has a quote.
 */
function isReady(name: string, text: string): boolean {
  return !structured.includes(name.toLowerCase()) && /^[\x20-\x7e]*$/.test(text);
}

/**
 * What nodemailer does well as it is. Encoded here: long words, because it folds lines only between words, and text that
 * looks like an encoded word, which a reader would decode.
 */
function headerText(
  text: string,
): string | { readonly value: string; readonly prepared: true; readonly foldLines: true } {
  const isPlain = /^[\x20-\x7e]*$/.test(text);
  const needsWords = text.includes('=?') || text.split(' ').some((word) => word.length > maxWordLength);
  if (!isPlain || !needsWords) return text;
  return { value: encodeWords(text), prepared: true, foldLines: true };
}

/** RFC 2047 words of at most 75 characters, joined by blanks that a reader drops. For printable ASCII. */
function encodeWords(text: string): string {
  const pieces = text.match(/.{1,20}/g) ?? [];
  return pieces.map((piece) => `=?UTF-8?Q?${encodePiece(piece)}?=`).join(' ');
}

function encodePiece(piece: string): string {
  return piece
    .replace(/[^A-Za-z0-9!*+\-/ ]/g, (character) => `=${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll(' ', '_');
}
