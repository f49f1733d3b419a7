/**
 * One email body outside the configuration, as last read.
 *
 * A changed file is read only after one quiet interval, so that a half-written file is not used. An address is fetched
 * again after ten minutes, after a failure in ten seconds.
 */
import { readFile, stat } from 'node:fs/promises';
import { maxTemplateBytes } from '../../config/auth/auth-template-fields.ts';
import type { TemplateSource } from '../../config/auth/auth-template-source.ts';
import type { Clock } from '../../shared/clock.ts';
import { decodeTemplate, type FetchedTemplate, fetchTemplate, showAddress } from './fetch-template.ts';

const freshMs = 600_000;
const retryMs = 10_000;

/** The next text, null if unchanged. @throws Error with the rest of a sentence. */
type ReadNext = (stopping: AbortSignal) => Promise<string | null>;

/** Reads one body repeatedly. The constructor reads nothing. */
export class TemplateReader {
  /** The operator's name for it, for messages. */
  readonly name: string;
  readonly #next: ReadNext;
  readonly #stopping = new AbortController();
  #reading: Promise<boolean> | null = null;
  /** The last text read; null before the first. */
  text: string | null = null;
  /** Why the last read failed, as a sentence without the full stop; null on success. */
  problem: string | null = null;

  constructor(name: string, next: ReadNext) {
    this.name = name;
    this.#next = next;
  }

  /** Checks for a change. @returns Whether text or problem changed. Never rejects. */
  read(): Promise<boolean> {
    this.#reading = this.#read();
    return this.#reading;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#reading;
  }

  async #read(): Promise<boolean> {
    const before = [this.text, this.problem];
    try {
      const text = await this.#next(this.#stopping.signal);
      if (text === null) return false;
      // PostgreSQL and mail programs cannot handle NUL.
      if (text.includes('\0')) throw new Error('contains a NUL character');
      this.text = text;
      this.problem = null;
    } catch (error) {
      this.problem = (error as Error).message;
    }
    return before[0] !== this.text || before[1] !== this.problem;
  }
}

/** Makes the reader of a source. @param siteUrl Base of a relative address. */
export function createTemplateReader(source: TemplateSource, siteUrl: string, clock: Clock): TemplateReader {
  if (source.kind === 'file') return new TemplateReader(`${source.origin} (${source.path})`, nextOfFile(source.path));
  const { location } = source;
  const address = /^[a-z]+:/i.test(location) ? location : joinPath(siteUrl, location);
  return new TemplateReader(`${source.origin} (${showAddress(address)})`, nextOfAddress(address, clock));
}

function nextOfFile(path: string): ReadNext {
  /** The version of the file that was read, and the version seen by the last check. */
  let [readVersion, seenVersion]: [string | null, string | null] = [null, null];
  return async () => {
    const version = await fileVersion(path);
    const isFirst = seenVersion === null;
    const rests = version === seenVersion;
    seenVersion = version;
    if (version === readVersion || !(rests || isFirst)) return null;
    // The version was taken before the text: the next check notices a change in between.
    readVersion = version;
    return readTemplateFile(path);
  };
}

/** A text that changes with the file; if it cannot be read, the reason. */
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
    // Retry failures sooner.
    nextAt = clock.now() + retryMs;
    known = await fetchTemplate(address, known, stopping);
    nextAt = clock.now() + freshMs;
    return known.text;
  };
}

/** `https://app.test/x/` and `/y.html` -> `https://app.test/x/y.html`. */
function joinPath(base: string, path: string): string {
  return `${base.replace(/(?<!\/)\/+$/, '')}/${path.replace(/^\/+/, '')}`;
}
