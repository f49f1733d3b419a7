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

/** Reads one body again and again. */
export interface TemplateReader {
  /** What the operator called it, for messages. */
  readonly name: string;
  /** The last text that was read; null where none ever was. */
  text(): string | null;
  /** Why the last reading failed, as a sentence without its end; null where it did not. */
  problem(): string | null;
  /** Looks whether there is something new. @returns Whether text or problem have changed. Never rejects. */
  read(): Promise<boolean>;
  /** Ends a reading that is under way. */
  stop(): Promise<void>;
}

const freshMs = 600_000;
const retryMs = 10_000;

/** Makes the reader; it has read nothing yet. @param siteUrl What a path of the other kind is joined to. */
export function createTemplateReader(source: TemplateSource, siteUrl: string, clock: Clock): TemplateReader {
  return source.kind === 'file' ? readerOfFile(source) : readerOfAddress(source, siteUrl, clock);
}

type FileSource = Extract<TemplateSource, { readonly kind: 'file' }>;
type RemoteSource = Extract<TemplateSource, { readonly kind: 'remote' }>;

function readerOfFile({ path, origin }: FileSource): TemplateReader {
  /** The version of the file that was read, and the one that the last look saw. */
  let [readVersion, seenVersion]: [string | null, string | null] = [null, null];
  const state = createState();
  return {
    name: `${origin} (${path})`,
    ...state.facts,
    async read() {
      const version = await fileVersion(path);
      const isFirst = seenVersion === null;
      const rests = version === seenVersion;
      seenVersion = version;
      if (version === readVersion || !(rests || isFirst)) return false;
      // The version is older than the text: a change between the two is seen by the next look.
      readVersion = version;
      return state.take(readTemplateFile(path));
    },
    stop: async () => {},
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

function readerOfAddress({ location, origin }: RemoteSource, siteUrl: string, clock: Clock): TemplateReader {
  const stopping = new AbortController();
  const address = /^[a-z]+:/i.test(location) ? location : joinPath(siteUrl, location);
  const state = createState();
  let known: FetchedTemplate | null = null;
  let nextAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<boolean> | null = null;

  async function fetchAgain(): Promise<string> {
    // Failures come back sooner.
    nextAt = clock.now() + retryMs;
    known = await fetchTemplate(address, known, stopping.signal);
    nextAt = clock.now() + freshMs;
    return known.text;
  }

  return {
    name: `${origin} (${showAddress(address)})`,
    ...state.facts,
    async read() {
      if (clock.now() < nextAt || stopping.signal.aborted) return false;
      reading = state.take(fetchAgain());
      return reading;
    },
    async stop() {
      stopping.abort();
      await reading;
    },
  };
}

/** `https://app.test/x/` and `/y.html` -> `https://app.test/x/y.html`. */
function joinPath(base: string, path: string): string {
  return `${base.replace(/\/+$/, '')}/${path.replace(/^\/+/, '')}`;
}

/** Remembers what came of the last reading. */
function createState() {
  let [text, problem]: [string | null, string | null] = [null, null];
  return {
    facts: { text: () => text, problem: () => problem },
    async take(reading: Promise<string>): Promise<boolean> {
      const before = [text, problem];
      try {
        text = checkText(await reading);
        problem = null;
      } catch (error) {
        problem = (error as Error).message;
      }
      return before[0] !== text || before[1] !== problem;
    },
  };
}

/** PostgreSQL and mail programs can do nothing with it. */
function checkText(text: string): string {
  if (text.includes('\0')) throw new Error('contains a NUL character');
  return text;
}
