/** How literal text changes the context in HTML: text, tags, attribute names, and values other than CSS and script. */
import { failScan } from '../template-error.ts';
import { attributeKind, toLowerCase } from './attribute-kinds.ts';
import {
  type Context,
  type ContextAttribute,
  type ContextElement,
  type Delimiter,
  type Scan,
  startContext,
  valueStates,
} from './context.ts';

const elements: Readonly<Record<string, ContextElement>> = {
  script: 'script', style: 'style', textarea: 'textarea', title: 'title', meta: 'meta',
}; // biome-ignore format: a table

/** `<` or `</` and a name, where `-` and `:` occur only between letters and digits. */
const tagStart = /<(?:!--|(\/?)([A-Za-z][A-Za-z0-9]*(?:[-:][A-Za-z0-9]+)*))/g;

/** @param keepsConditional Whether comments for mail clients, `<!--[if`, are kept. */
export function scanText(context: Context, text: string, keepsConditional: boolean): Scan {
  tagStart.lastIndex = 0;
  const match = tagStart.exec(text);
  if (match === null) return { context, read: text.length };
  const read = match.index + match[0].length;
  if (match[2] === undefined) {
    const kept = keepsConditional && text.startsWith('[if', read);
    return { context: { ...startContext, state: kept ? 'keptComment' : 'htmlComment' }, read };
  }
  const element = match[1] === '/' ? 'none' : (elements[match[2].toLowerCase()] ?? 'none');
  return { context: { ...startContext, state: 'tag', element }, read };
}

const contentStates = {
  none: 'text', script: 'script', style: 'css', textarea: 'rcdata', title: 'rcdata', meta: 'text',
} as const satisfies Record<ContextElement, Context['state']>; // biome-ignore format: a table

/** The context after a tag. A `meta` has no content: only its attributes matter. */
function contentContext(element: ContextElement): Context {
  return element === 'meta' ? startContext : { ...startContext, state: contentStates[element], element };
}

/** Inside a tag, between attributes. */
export function scanTag(context: Context, text: string): Scan {
  const start = skipSpace(text, 0);
  if (start === text.length) return { context, read: start };
  const { element } = context;
  if (text[start] === '>') return { context: contentContext(element), read: start + 1 };
  const end = nameEnd(text, start);
  if (end === start)
    failScan('bad_markup', `expected space, attr name, or end of tag, but got ${quote(text.slice(start))}`);
  const attribute = attributeOf(toLowerCase(text.slice(start, end)), element);
  const state = end === text.length ? 'attributeName' : 'afterName';
  return { context: { ...startContext, state, element, attribute }, read: end };
}

function attributeOf(name: string, element: ContextElement): ContextAttribute {
  if (element === 'script' && name === 'type') return 'scriptType';
  if (element === 'meta' && name === 'content') return 'metaContent';
  const kind = attributeKind(name);
  return kind === 'document' || kind === 'unsafe' ? 'plain' : kind;
}

/** Inside an attribute name that an action started or continued. */
export function scanAttributeName(context: Context, text: string): Scan {
  const end = nameEnd(text, 0);
  return { context: end === text.length ? context : { ...context, state: 'afterName' }, read: end };
}

function nameEnd(text: string, start: number): number {
  const found = text.slice(start).search(/[ \t\n\f\r=>'"<]/);
  const end = found < 0 ? text.length : start + found;
  if (found >= 0 && `'"<`.includes(text[end] as string))
    failScan('bad_markup', `${quote(text[end] as string)} in attribute name: ${quote(text)}`);
  return end;
}

/** After an attribute name. */
export function scanAfterName(context: Context, text: string): Scan {
  const start = skipSpace(text, 0);
  if (start === text.length) return { context, read: start };
  if (text[start] !== '=') return { context: { ...context, state: 'tag' }, read: start };
  return { context: { ...context, state: 'beforeValue' }, read: start + 1 };
}

const quotes: Readonly<Record<string, Delimiter>> = { '"': 'double', "'": 'single' };

/** After the `=` of an attribute. */
export function scanBeforeValue(context: Context, text: string): Scan {
  const start = skipSpace(text, 0);
  if (start === text.length) return { context, read: start };
  const delimiter = quotes[text[start] as string];
  const state = valueStates[context.attribute];
  return {
    context: { ...context, state, delimiter: delimiter ?? 'space' },
    read: delimiter === undefined ? start : start + 1,
  };
}

/** Inside a URL. */
export function scanUrl(context: Context, text: string): Scan {
  return { context: moveUrl(context, text), read: text.length };
}

/** The context after text in a URL: the path starts with the first text, the query with `?` or `#`. */
export function moveUrl(context: Context, text: string): Context {
  if (/[#?]/.test(text)) return context.urlPart === 'query' ? context : { ...context, urlPart: 'query' };
  return context.urlPart === 'start' && /[^ \t\n\f\r]/.test(text) ? { ...context, urlPart: 'path' } : context;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \t\n\f\r'.includes(text[at] as string)) at += 1;
  return at;
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 32));
}
