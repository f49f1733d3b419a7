/**
 * Decides which statements get a name, and which one.
 *
 * A name is a hash of (role, text), so it never means another text, also behind a pooler where gateways share server
 * connections. The role is part of it because a plan that depends on row security is made again when the role changes.
 * A text is named when it is seen for the second time: documents sent once would otherwise fill every server process
 * with plans (about 100 KB for a nested one) and push out those that are used.
 *
 * One per pool.
 */
import { hash } from 'node:crypto';

/** After so many failures a pooler that cannot keep statements is certain. */
const lossesUntilOff = 3;
/** Texts of one generation and their characters; two are kept. A bound against documents that never come again. */
const generationSize = 2000;
const generationCharacters = 8 * 1024 * 1024;
/** Longer texts are never named: each would hold megabytes in every server process. */
const maxNamedLength = 256 * 1024;

/** Names for the statements of one pool. */
export class StatementNames {
  #enabled: boolean;
  #losses = 0;
  readonly #onOff: () => void;
  /** Per role: text to name; the empty name means "seen once". */
  #young = new Map<string, Map<string, string>>();
  #old = new Map<string, Map<string, string>>();
  #youngCount = 0;
  #youngCharacters = 0;

  constructor(enabled: boolean, onOff: () => void) {
    this.#enabled = enabled;
    this.#onOff = onOff;
  }

  /** False once naming has ended for good: then every name is empty. */
  get enabled(): boolean {
    return this.#enabled;
  }

  /** The name to use, or the empty (unnamed) one. */
  nameOf(role: string, text: string): string {
    if (!this.#enabled || text.length > maxNamedLength) return '';
    const known = this.#young.get(role)?.get(text);
    if (known) return known;
    const name = known === undefined ? this.#old.get(role)?.get(text) : known;
    if (name === undefined) this.#remember(role, text, '');
    else this.#remember(role, text, name || hashName(role, text));
    return name === undefined ? '' : name || hashName(role, text);
  }

  /** The name of a statement of our own that every flight uses: named from the start. */
  fixedNameOf(text: string): string {
    if (!this.#enabled) return '';
    if (!this.#young.get('')?.has(text)) this.#remember('', text, hashName('', text));
    return this.#young.get('')?.get(text) ?? '';
  }

  /** Notes that the server did not know a name, or knew one it should not; after a few, naming ends for good. */
  noteLoss(): void {
    this.#losses += 1;
    if (!this.#enabled || this.#losses < lossesUntilOff) return;
    this.#enabled = false;
    this.#onOff();
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
}

function hashName(role: string, text: string): string {
  return `pgreflect_${hash('sha256', `${role}\0${text}`).slice(0, 32)}`;
}
