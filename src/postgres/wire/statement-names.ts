/**
 * Decides which statements get a name, and which one.
 *
 * A name is a hash of (role, text) under a key of this pool, so it is unique to the text and cannot be predicted. The
 * role is included because plans with row security are remade when the role changes. A text gets a name at its second
 * use: documents sent once would fill every server process with plans (about 100 KB for a nested one) and evict those
 * in use.
 */
import { createHmac, randomBytes } from 'node:crypto';

/** Texts per generation, and their characters; two generations are kept. Bounds documents that never repeat. */
const generationSize = 2000;
const generationCharacters = 8 * 1024 * 1024;
/** Longer texts are never named: few would fill what a connection may keep (prepared-statements.ts). */
const maxNamedLength = 64 * 1024;

/** Names for the statements of one pool. */
export class StatementNames {
  #enabled: boolean;
  readonly #key = randomBytes(32);
  /** Per role: text to name; an empty name means "seen once". */
  #young = new Map<string, Map<string, string>>();
  #old = new Map<string, Map<string, string>>();
  #youngCount = 0;
  #youngCharacters = 0;

  constructor(enabled: boolean) {
    this.#enabled = enabled;
  }

  /** False after naming was disabled: every name is empty then. */
  get enabled(): boolean {
    return this.#enabled;
  }

  /** The name to use, or empty for unnamed. */
  nameOf(role: string, text: string): string {
    if (!this.#enabled || text.length > maxNamedLength) return '';
    const known = this.#young.get(role)?.get(text);
    if (known) return known;
    const isSeen = known !== undefined || this.#old.get(role)?.has(text);
    const name = isSeen ? this.#hashName(role, text) : '';
    this.#remember(role, text, name);
    return name;
  }

  /** The name of a statement of our own that every flight uses: named from its first use. */
  fixedNameOf(text: string): string {
    if (!this.#enabled) return '';
    if (!this.#young.get('')?.has(text)) this.#remember('', text, this.#hashName('', text));
    return this.#young.get('')?.get(text) ?? '';
  }

  /** Disables naming for good. */
  disable(): void {
    this.#enabled = false;
  }

  #remember(role: string, text: string, name: string): void {
    if (this.#youngCount >= generationSize || this.#youngCharacters >= generationCharacters) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngCount = 0;
      this.#youngCharacters = 0;
    }
    const texts = this.#young.get(role) ?? new Map<string, string>();
    if (!texts.has(text)) {
      this.#youngCount += 1;
      this.#youngCharacters += text.length;
    }
    this.#young.set(role, texts.set(text, name));
  }

  #hashName(role: string, text: string): string {
    return `pgreflect_${createHmac('sha256', this.#key).update(`${role}\0${text}`).digest('hex').slice(0, 32)}`;
  }
}
