/**
 * A rendered subject -> the text of the header: one line without control characters, of bounded length.
 */

/** Longest subject in bytes of UTF-8. */
const maxSubjectBytes = 998;

/** Removes control characters, makes one blank of each run of white space, trims, and cuts at a whole character. */
export function cleanSubject(rendered: string): string {
  const line = rendered
    .toWellFormed()
    .replace(/\p{White_Space}+/gu, ' ')
    // Beside control characters, what breaks lines or hides the direction of the text after it.
    .replace(/[\p{Cc}\u2028\u2029]/gu, '')
    .replace(/ {2,}/g, ' ')
    .trim();
  return cutBytes(line, maxSubjectBytes).trimEnd();
}

function cutBytes(text: string, most: number): string {
  if (Buffer.byteLength(text) <= most) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(most));
  return text.slice(0, read);
}
