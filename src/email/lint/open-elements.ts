/**
 * The elements that are open while markup is read, each with a value. An end tag closes what is open inside its element, and one
 * without a start closes nothing. Each element is closed once, so reading takes no more steps than there are tags.
 */
import { markupAttribute } from './doubtful-markup.ts';

/** Elements that have no end tag. */
const voidElements = new Set(['img', 'br', 'hr', 'meta', 'link', 'input', 'col', 'area', 'base', 'wbr']);

/** The open elements; `T` is what is known of each. */
export class OpenElements<T> {
  readonly #open: { readonly tag: string; readonly value: T }[] = [];
  readonly #counts = new Map<string, number>();

  /** The value of the innermost one. */
  get innermost(): T | undefined {
    return this.#open.at(-1)?.value;
  }

  /** @param rest What follows the name in the tag. */
  open(tag: string, rest: string, value: T): void {
    if (voidElements.has(tag) || rest.endsWith('/')) return;
    this.#open.push({ tag, value });
    this.#counts.set(tag, (this.#counts.get(tag) ?? 0) + 1);
  }

  close(tag: string): void {
    if ((this.#counts.get(tag) ?? 0) === 0) return;
    for (let last = this.#open.pop(); last !== undefined; last = this.#open.pop()) {
      this.#counts.set(last.tag, (this.#counts.get(last.tag) ?? 1) - 1);
      if (last.tag === tag) return;
    }
  }
}

/** An attribute of a tag. */
export interface Attribute {
  readonly value: string;
  /** Offset into the source, in UTF-16 units. */
  readonly at: number;
  readonly isQuoted: boolean;
}

/** Attributes by name; the first of each name counts, as in browsers. @param start Where the text begins in the source. */
export function readAttributes(rest: string, start: number): ReadonlyMap<string, Attribute> {
  const attributes = new Map<string, Attribute>();
  for (const { 0: all, 1: name = '', 2: given = '', index } of rest.matchAll(markupAttribute)) {
    const key = name.toLowerCase();
    if (attributes.has(key)) continue;
    const isQuoted = /^["']/.test(given);
    const value = isQuoted ? given.slice(1, -1) : given;
    attributes.set(key, { value, at: start + index + all.length - value.length - (isQuoted ? 1 : 0), isQuoted });
  }
  return attributes;
}
