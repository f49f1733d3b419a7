/** Elements whose contents no reader sees, or whose form nobody can send. */
import { endsInText } from '../engine/template.ts';
import { readMarkup } from './read-markup.ts';

/** Browsers show their contents never, or only where they lack something. */
const hiding: ReadonlySet<string> = new Set([
  'audio', 'canvas', 'datalist', 'dialog', 'frameset', 'iframe', 'math', 'meter', 'noembed', 'noframes', 'noscript',
  'object', 'plaintext', 'progress', 'rp', 'select', 'svg', 'template', 'video', 'xmp',
]); // biome-ignore format: a list

/** Whether an element's contents are shown nowhere that its own programs show. */
export function neverShown(tag: string): boolean {
  return hiding.has(tag) || ['title', 'script', 'style'].includes(tag);
}

/** Only these may end in their start tag. */
const foreign = ['math', 'svg'];

/** The name of an element that is open at the end and hides what follows; null: none. */
function findHidingElement(html: string): string | null {
  const open = new Map<string, number>();
  readMarkup(html, (piece) => {
    if (piece.kind !== 'start' && piece.kind !== 'end') return;
    const { name } = piece;
    if (!hiding.has(name) || (piece.kind === 'start' && piece.isClosed && foreign.includes(name))) return;
    open.set(name, Math.max(0, (open.get(name) ?? 0) + (piece.kind === 'end' ? -1 : 1)));
  });
  return [...open].find(([, count]) => count > 0)?.[0] ?? null;
}

/** Why readers would not see something behind this markup, as the rest of a sentence; null: they see it. */
export function unseenBehind(html: string, what: string): string | null {
  if (!endsInText(html)) return `must use ${what} as text between tags`;
  const element = findHidingElement(html);
  return element === null ? null : `must not use ${what} in <${element}>, where readers do not see it`;
}

/** Whether the style of an element hides it; its size is another question. */
export function isHiddenBy(style: string): boolean {
  return hidingStyle.test(style);
}

const hidingStyle = /(?:display\s*:\s*none|visibility\s*:\s*hidden|(?:opacity|max-height)\s*:\s*0(?![.\d]*[1-9]))/i;

/** The font size in the style of an element, without its unit; null: it has none. */
export function fontSizeIn(style: string): number | null {
  const size = fontSize.exec(style)?.[1];
  return size ? Number(size) : null;
}

const fontSize = /(?:^|;)\s*font-size\s*:\s*([\d.]*)/i;
