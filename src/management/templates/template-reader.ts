/**
 * One body of an email that lives elsewhere, as it was read last.
 *
 * A file is read when it has changed and has rested for one look, so that nobody reads half of what an editor is writing. An
 * address is asked again after ten minutes, and after ten seconds where it failed.
 */
import { readFile, stat } from 'node:fs/promises';
import { maxTemplateBytes } from '../../config/auth/auth-template-fields.ts';
import type { TemplateSource } from '../../config/auth/auth-template-source.ts';
import type { Clock } from '../../shared/clock.ts';
import { decodeTemplate, type FetchedTemplate, fetchTemplate, showAddress } from './fetch-template.ts';

const freshMs = 600_000;
const retryMs = 10_000;

/** The next text, null where there is nothing new. @throws Error with the rest of a sentence. */
type ReadNext = (stopping: AbortSignal) => Promise<string | null>;

/** Reads one body again and again; it has read nothing when it is made. */
export class TemplateReader {
  /** What the operator called it, for messages. */
  readonly name: string;
  readonly #next: ReadNext;
  readonly #stopping = new AbortController();
  #reading: Promise<boolean> | null = null;
  /** The last text that was read; null where none ever was. */
  text: string | null = null;
  /** Why the last reading failed, as a sentence without its end; null where it did not. */
  problem: string | null = null;

  constructor(name: string, next: ReadNext) {
    this.name = name;
    this.#next = next;
  }

  /** Looks whether there is something new. @returns Whether text or problem have changed. Never rejects. */
  read(): Promise<boolean> {
    this.#reading = this.#read();
    return this.#reading;
  }

  /** Ends a reading that is under way. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#reading;
  }

  async #read(): Promise<boolean> {
    const before = [this.text, this.problem];
    try {
      const text = await this.#next(this.#stopping.signal);
      if (text === null) return false;
      // PostgreSQL and mail programs can do nothing with it.
      if (text.includes('\0')) throw new Error('contains a NUL character');
      this.text = text;
      this.problem = null;
    } catch (error) {
      this.problem = (error as Error).message;
    }
    return before[0] !== this.text || before[1] !== this.problem;
  }
}

/** Makes the reader of a source. @param siteUrl What a path of the other kind is joined to. */
export function createTemplateReader(source: TemplateSource, siteUrl: string, clock: Clock): TemplateReader {
  if (source.kind === 'file') return new TemplateReader(`${source.origin} (${source.path})`, nextOfFile(source.path));
  const { location } = source;
  const address = /^[a-z]+:/i.test(location) ? location : joinPath(siteUrl, location);
  return new TemplateReader(`${source.origin} (${showAddress(address)})`, nextOfAddress(address, clock));
}

function nextOfFile(path: string): ReadNext {
  /** The version of the file that was read, and the one that the last look saw. */
  let [readVersion, seenVersion]: [string | null, string | null] = [null, null];
  return async () => {
    const version = await fileVersion(path);
    const isFirst = seenVersion === null;
    const rests = version === seenVersion;
    seenVersion = version;
    if (version === readVersion || !(rests || isFirst)) return null;
    // The version is older than the text: a change between the two is seen by the next look.
    readVersion = version;
    return readTemplateFile(path);
  };
}

/** Changes whenever the file does; where it cannot be looked at, why. */
async function fileVersion(path: string): Promise<string> {
  try {
    const { ino, mtimeNs, size } = await stat(path, { bigint: true });
    return `${ino} ${mtimeNs} ${size}`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown error';
  }
}

async function readTemplateFile(path: string): Promise<string> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`cannot be read (${error.code ?? 'unknown error'})`);
  });
  if (bytes.length > maxTemplateBytes) throw new Error(`is larger than ${maxTemplateBytes} bytes`);
  return decodeTemplate(bytes);
}

function nextOfAddress(address: string, clock: Clock): ReadNext {
  let known: FetchedTemplate | null = null;
  let nextAt = Number.NEGATIVE_INFINITY;
  return async (stopping) => {
    if (clock.now() < nextAt || stopping.aborted) return null;
    // Failures come back sooner.
    nextAt = clock.now() + retryMs;
    known = await fetchTemplate(address, known, stopping);
    nextAt = clock.now() + freshMs;
    return known.text;
  };
}

/** `https://app.test/x/` and `/y.html` -> `https://app.test/x/y.html`. */
function joinPath(base: string, path: string): string {
  return `${base.replace(/\/+$/, '')}/${path.replace(/^\/+/, '')}`;
}
