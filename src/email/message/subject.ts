/** Turns a rendered subject into one line of limited length, without control characters, and a text part into lines. */
import { unseen } from '../../shared/one-line.ts';

/** Longest subject in bytes of UTF-8. */
const maxSubjectBytes = 998;

/** What needs no change: words of common letters with single blanks. */
const plainLine =
  /^[!-~\u00a1-\u00ac\u00ae-\u024f\u3041-\u3096\u30a1-\u30ff\u4e00-\u9fff]+(?: [!-~\u00a1-\u00ac\u00ae-\u024f\u3041-\u3096\u30a1-\u30ff\u4e00-\u9fff]+)*$/;

/** Characters of such a line take three bytes at most. */
const maxPlainLength = Math.floor(maxSubjectBytes / 3);

/** Removes control characters, collapses white space, trims, and cuts at a whole character. */
export function cleanSubject(rendered: string): string {
  if (rendered.length <= maxPlainLength && plainLine.test(rendered)) return rendered;
  const line = rendered
    .toWellFormed()
    .replace(/\p{White_Space}+/gu, ' ')
    // The direction of the text, too: characters in a name of a user could make the line read as another one.
    .replace(unseen, '')
    .replace(/ {2,}/g, ' ')
    .trim();
  return cutBytes(line, maxSubjectBytes).trimEnd();
}

/** Line ends of one kind, and no control characters but tabs: a terminal would obey those. */
export function cleanText(rendered: string): string {
  return rendered
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, '');
}

function cutBytes(text: string, most: number): string {
  if (Buffer.byteLength(text) <= most) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(most));
  return text.slice(0, read);
}
