/**
 * The body of an email as text, as a client without HTML shows it: for the inbox, to check its readability.
 */
import type { HtmlToTextOptions } from 'html-to-text';

const options: HtmlToTextOptions = {
  wordwrap: 100,
  // Parsing takes quadratic time for markup that is nested thousands of levels deep.
  limits: { maxInputLength: 100_000, maxDepth: 100, maxChildNodes: 20_000 },
  selectors: [
    // Without this, a link whose text is its address would be printed twice.
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true, ignoreHref: false } },
    { selector: 'img', format: 'skip' },
    { selector: 'h1', options: { uppercase: false } },
    { selector: 'h2', options: { uppercase: false } },
    { selector: 'h3', options: { uppercase: false } },
    { selector: 'table', format: 'block' },
  ],
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
