/**
 * Keeps the trusted documents of `--trusted-documents`, and reads them again when they change. Files that cannot be read
 * leave the list as it was.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError } from '../../config/config-error.ts';
import type { Observe } from '../../shared/observation.ts';
import { inSlices } from '../../shared/slices.ts';
import { printDocumentsOf, readDocuments } from './read-documents.ts';
import { listTrusted, type TrustedList } from './trusted-list.ts';

/** Shortest interval between looks at the files, in milliseconds. */
const lookMs = 1000;
/** A look takes at most this part of the time: a folder may have many files. */
const share = 0.01;

/** What keeps them. */
export class TrustedDocuments {
  readonly #path: string;
  readonly #observe: Observe;
  readonly #stopping = new AbortController();
  #list: TrustedList | null = null;
  #print = '';
  #problem = '';

  constructor(path: string, observe: Observe) {
    this.#path = path;
    this.#observe = observe;
  }

  /** Null before they were read. */
  get list(): TrustedList | null {
    return this.#list;
  }

  /** Reads them, and then follows their changes. @param onChange Called after each further reading. @throws ConfigError */
  async start(onChange: () => void): Promise<void> {
    await this.#read(await inSlices(printDocumentsOf(this.#path)));
    void this.#follow(onChange);
  }

  stop(): void {
    this.#stopping.abort();
  }

  async #read(print: string): Promise<void> {
    // What is written meanwhile is another change.
    this.#print = print;
    this.#list = await inSlices(listTrusted(await inSlices(readDocuments(this.#path))));
  }

  async #follow(onChange: () => void): Promise<void> {
    const { signal } = this.#stopping;
    let tookMs = 0;
    for (;;) {
      await sleep(Math.max(lookMs, tookMs / share), undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      const start = performance.now();
      try {
        const print = await inSlices(printDocumentsOf(this.#path));
        tookMs = performance.now() - start;
        if (print === this.#print) continue;
        await this.#read(print);
        this.#problem = '';
        this.#observe({ kind: 'trusted_documents', number: this.#list?.texts().size ?? 0 });
        onChange();
      } catch (error) {
        this.#report(error);
      }
    }
  }

  #report(error: unknown): void {
    const reason =
      error instanceof ConfigError ? error.problems.map(({ problem }) => problem).join(' ') : String(error);
    if (reason === this.#problem) return;
    this.#problem = reason;
    this.#observe({ kind: 'warning', message: `The trusted documents were not read again: ${reason}` });
  }
}
