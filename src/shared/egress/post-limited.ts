/** One HTTP request to an external server, limited in time and size, only to the given address (no redirects). */
import { readBounded, TooLargeError } from '../read-bounded.ts';

interface PostRequest {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Aborts the request and the reading of its answer. */
  readonly signal: AbortSignal;
  readonly maxBytes: number;
  readonly fetch: typeof globalThis.fetch;
}

/** The answer. */
export interface PostAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Why there is no answer. */
export type PostFailure = 'timed_out' | 'unreachable' | 'too_large';

/** No answer. Its message says no more than `failure`, because addresses may contain secrets. */
export class PostError extends Error {
  override readonly name = 'PostError';
  readonly failure: PostFailure;

  constructor(failure: PostFailure, cause?: unknown) {
    super(`a request failed: ${failure}`, cause === undefined ? undefined : { cause });
    this.failure = failure;
  }
}

/** Sends the request and reads the answer, with any status. @throws PostError */
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
