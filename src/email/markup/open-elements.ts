/**
 * The elements that are open while markup is read, each with a value. An end tag closes what is open inside its element, and one
 * without a start closes nothing. Each element is closed once, so reading takes no more steps than there are tags.
 */
import type { StartTag } from './read-markup.ts';

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

  open({ name: tag, isClosed }: StartTag, value: T): void {
    if (voidElements.has(tag) || isClosed) return;
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
