/**
 * Fetches the body of an email from its address: http and https only, limited in time and size, with redirects only
 * within the origin. An unchanged body is not transferred again.
 */
import { maxTemplateBytes } from '../../config/auth/auth-template-fields.ts';
import { openFetch } from '../../shared/egress/egress.ts';
import { readBounded, TooLargeError } from '../../shared/read-bounded.ts';

/** A body with its validators. */
export interface FetchedTemplate {
  readonly text: string;
  /** `ETag`; null if the server sends none. */
  readonly etag: string | null;
  /** `Last-Modified`; null if the server sends none. */
  readonly lastModified: string | null;
}

/** Time limit of one fetch in milliseconds, including redirects. */
const timeoutMs = 10_000;

const maxRedirects = 5;

/**
 * Fetches a body.
 *
 * @param known The earlier result; returned itself if the server answers that it has not changed.
 * @throws Error with the rest of a sentence that begins with the address, without any text of the answer.
 */
export async function fetchTemplate(
  address: string,
  known: FetchedTemplate | null,
  stopping: AbortSignal,
): Promise<FetchedTemplate> {
  const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), stopping]);
  try {
    const response = await request(toUrl(address), known, signal);
    if (response.status === 304 && known !== null) return known;
    const text = await readText(response);
    const { headers } = response;
    return { text, etag: headers.get('etag'), lastModified: headers.get('last-modified') };
  } catch (error) {
    throw new Error(describe(error), { cause: error });
  }
}

/** Without user, password, query and fragment, which may contain secrets. */
export function showAddress(address: string): string {
  const url = URL.parse(address);
  return url === null ? 'the address' : `${url.protocol}//${url.host}${url.pathname}`;
}

/** Our own refusal, not a network failure. */
class Refusal extends Error {}

function toUrl(address: string): URL {
  const url = URL.parse(address);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) throw new Refusal('is no http or https address');
  if (url.username !== '' || url.password !== '') throw new Refusal('must not contain a user name or a password');
  return url;
}

async function request(start: URL, known: FetchedTemplate | null, signal: AbortSignal): Promise<Response> {
  let url = start;
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const response = await openFetch(url, { signal, headers: conditions(known) });
    const isRedirect = [301, 302, 303, 307, 308].includes(response.status);
    const location = isRedirect ? response.headers.get('location') : null;
    if (location === null) return response;
    await response.body?.cancel();
    const next = URL.parse(location, url);
    // A remote server must not choose other hosts for us to call.
    if (next?.origin !== start.origin) throw new Refusal('redirects to another origin');
    url = next;
  }
  throw new Refusal(`redirects more than ${maxRedirects} times`);
}

function conditions(known: FetchedTemplate | null): Record<string, string> {
  return {
    accept: 'text/html, text/plain;q=0.9, */*;q=0.1',
    ...(known?.etag && { 'if-none-match': known.etag }),
    ...(known?.lastModified && { 'if-modified-since': known.lastModified }),
  };
}

async function readText(response: Response): Promise<string> {
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Refusal(`answers with the status ${response.status}`);
  }
  return decodeTemplate(await readBounded(response, maxTemplateBytes));
}

/** UTF-8 without a byte order mark. @throws Error with the rest of a sentence. */
export function decodeTemplate(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Refusal('is no UTF-8 text');
  }
}

function describe(error: unknown): string {
  if (error instanceof Refusal) return error.message;
  if (error instanceof TooLargeError) return `is larger than ${maxTemplateBytes} bytes`;
  const { name, code = name } = error as NodeJS.ErrnoException;
  if (name === 'TimeoutError') return `does not answer within ${timeoutMs / 1000} seconds`;
  return `cannot be fetched (${code})`;
}
