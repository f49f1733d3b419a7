/**
 * The body of an email as text: its text part, and how a client without HTML shows it.
 *
 * Every link is written out, so its text cannot hide where it leads. Values of users have become text in the HTML, so
 * they make no line, link or list of their own.
 */
import type { HtmlToTextOptions } from 'html-to-text';
import type { EmailMessage } from './message.ts';

/** Longer HTML is not read: a text that ends in the middle would mislead. In UTF-16 units. */
const maxInput = 100_000;

const options: HtmlToTextOptions = {
  wordwrap: 78,
  // Parsing takes quadratic time for markup that is nested thousands of levels deep.
  limits: { maxInputLength: maxInput, maxDepth: 100, maxChildNodes: 20_000 },
  selectors: [
    // Without the first, a link whose text is its address would be printed twice. Brackets as in RFC 3986.
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true, ignoreHref: false, linkBrackets: ['<', '>'] } },
    { selector: 'img', format: 'alternative' },
    { selector: 'title', format: 'skip' },
    { selector: 'h1', options: { uppercase: false, leadingLineBreaks: 2 } },
    { selector: 'h2', options: { uppercase: false } },
    { selector: 'h3', options: { uppercase: false } },
    { selector: 'table', format: 'block' },
  ],
  formatters: {
    alternative(image, _walk, builder) {
      builder.addInline(image.attribs.alt ?? '');
    },
  },
};

let converter: Promise<(html: string) => string> | null = null;

/** Loaded with the first message, like all code for emails. */
async function loadConverter(): Promise<(html: string) => string> {
  const { compile } = await import('html-to-text');
  return compile(options);
}

/** The text. Markup that is too deep or long is cut. */
export async function toPlainText(html: string): Promise<string> {
  converter ??= loadConverter();
  return (await converter)(html).trim();
}

/** The text part of a message; null for none: it is HTML alone, is too long to be read, or shows no text. */
export async function textPartOf({ text, html }: Pick<EmailMessage, 'text' | 'html'>): Promise<string | null> {
  if (text === undefined || (text === null && html.length > maxInput)) return null;
  return (text ?? (await toPlainText(html))) || null;
}
