/**
 * Finds elements whose contents no reader sees, or whose form nobody can send. Reads each character once, because the
 * text is untrusted.
 */
import { markupPieces } from '../../lint/doubtful-markup.ts';

/** Browsers show their contents never, or only where they lack something. */
const hiding: ReadonlySet<string> = new Set([
  'audio', 'canvas', 'datalist', 'dialog', 'frameset', 'iframe', 'math', 'meter', 'noembed', 'noframes', 'noscript',
  'object', 'plaintext', 'progress', 'rp', 'select', 'svg', 'template', 'video', 'xmp',
]); // biome-ignore format: a list

/** Whether an element's contents are shown nowhere that its own programs show. */
export function neverShown(tag: string): boolean {
  return hiding.has(tag) || tag === 'title';
}

/** Only these may end in their start tag. */
const foreign = ['math', 'svg'];

/** The name of an element that is open at the end and hides what follows; null: none. */
export function findHidingElement(html: string): string | null {
  const open = new Map<string, number>();
  for (const { 0: piece, 2: name = '', 3: rest = '' } of html.matchAll(markupPieces)) {
    const tag = name.toLowerCase();
    if (!hiding.has(tag) || (foreign.includes(tag) && rest.endsWith('/'))) continue;
    open.set(tag, Math.max(0, (open.get(tag) ?? 0) + (piece.startsWith('</') ? -1 : 1)));
  }
  return [...open].find(([, count]) => count > 0)?.[0] ?? null;
}
