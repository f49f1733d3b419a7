/**
 * The body of an email as text, the way a client without HTML shows it: for the inbox, where one can see that it reads well.
 */
import type { HtmlToTextOptions } from 'html-to-text';

const options: HtmlToTextOptions = {
  wordwrap: 100,
  // The parser takes quadratic time for markup that is nested thousands of levels deep.
  limits: { maxInputLength: 100_000, maxDepth: 100, maxChildNodes: 20_000 },
  selectors: [
    // A link whose text is its address would be printed twice.
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true, ignoreHref: false } },
    { selector: 'img', format: 'skip' },
    { selector: 'h1', options: { uppercase: false } },
    { selector: 'h2', options: { uppercase: false } },
    { selector: 'h3', options: { uppercase: false } },
    { selector: 'table', format: 'block' },
  ],
};

let converter: Promise<(html: string) => string> | null = null;

/** Loaded with the first message, as everything that only emails need. */
async function loadConverter(): Promise<(html: string) => string> {
  const { compile } = await import('html-to-text');
  return compile(options);
}

/** The text. Markup that is too deep or too long is cut. */
export async function toPlainText(html: string): Promise<string> {
  converter ??= loadConverter();
  return (await converter)(html).trim();
}
