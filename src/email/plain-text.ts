/**
 * The body of an email as text, the way a client without HTML shows it: for the inbox, where one can see that it reads well.
 */
import { compile } from 'html-to-text';

const convert = compile({
  wordwrap: 100,
  // The parser takes quadratic time for markup that is nested tens of thousands of levels deep.
  limits: { maxInputLength: 250_000, maxDepth: 100, maxChildNodes: 20_000 },
  selectors: [
    // A link whose text is its address would be printed twice.
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true, ignoreHref: false } },
    { selector: 'img', format: 'skip' },
    { selector: 'h1', options: { uppercase: false } },
    { selector: 'h2', options: { uppercase: false } },
    { selector: 'h3', options: { uppercase: false } },
    { selector: 'table', format: 'block' },
  ],
});

/** The text. Never throws; markup that is too deep or too long is cut. */
export function toPlainText(html: string): string {
  return convert(html).trim();
}
