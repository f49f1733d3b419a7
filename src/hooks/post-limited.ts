/**
 * One HTTP request to a server that is not ours: never longer than its signal allows, never more of an answer in memory than
 * the limit, and no other address than the one that was given (redirects are answers).
 */
import { readBounded, TooLargeError } from '../shared/read-bounded.ts';

/** What is sent. */
export interface PostRequest {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Ends the request, and the reading of its answer. */
  readonly signal: AbortSignal;
  /** Of the answer. */
  readonly maxBytes: number;
  /** What sends it. */
  readonly fetch: typeof globalThis.fetch;
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
    const response = await request.fetch(url, {
      method: 'POST',
      headers: { 'accept-encoding': 'identity', 'user-agent': 'pgreflect', ...headers },
      body,
      signal,
      redirect: 'manual',
    });
    const { status, headers: received } = response;
    return { status, headers: received, text: (await readBounded(response, maxBytes)).toString() };
  } catch (error) {
    if (error instanceof TooLargeError) throw new PostError('too_large');
    throw new PostError(signal.aborted ? 'timed_out' : 'unreachable', error);
  }
}
