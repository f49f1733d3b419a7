/**
 * One HTTP request to a server that is not ours: never longer than its signal allows, never more of an answer in memory than
 * the limit, and no other address than the one that was given (redirects are answers).
 */

/** What is sent. */
export interface PostRequest {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Ends the request, and the reading of its answer. */
  readonly signal: AbortSignal;
  /** Of the answer. */
  readonly maxBytes: number;
}

/** What came back. */
export interface PostAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Why there is no answer. */
export type PostFailure = 'timed_out' | 'unreachable' | 'too_large';

/** No answer. Its message says no more than `failure` does: addresses may hold secrets. */
export class PostError extends Error {
  override readonly name = 'PostError';
  readonly failure: PostFailure;

  constructor(failure: PostFailure, cause?: unknown) {
    super(`a request failed: ${failure}`, cause === undefined ? undefined : { cause });
    this.failure = failure;
  }
}

/** Sends it and reads the answer, whatever its status. @throws PostError */
export async function postLimited(url: string, request: PostRequest): Promise<PostAnswer> {
  const { headers, body, signal, maxBytes } = request;
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'accept-encoding': 'identity', 'user-agent': 'pgreflect', ...headers },
      body,
      signal,
      redirect: 'manual',
    });
    return { status: response.status, headers: response.headers, text: await readText(response, maxBytes) };
  } catch (error) {
    if (error instanceof PostError) throw error;
    throw new PostError(signal.aborted ? 'timed_out' : 'unreachable', error);
  }
}

async function readText(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    // Leaving the loop ends the connection: nothing more is read.
    if (size > maxBytes) throw new PostError('too_large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
