/**
 * Requests to the gateway: JSON in, JSON out, failures as `ApiError`.
 *
 * Why the server cannot answer is a shared value: a request that fails because of that starts polling until it can.
 */
import type { ChangeProblem } from '../../../management/change-note.ts';
import { createStore, type Store } from './store.ts';

/** An error status, or no answer (`status` 0). */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  /** Of a change of the configuration: what is wrong with it, one by one. */
  readonly problems: readonly ChangeProblem[];

  constructor(status: number, code: string, message: string, problems: readonly ChangeProblem[] = []) {
    super(message);
    this.status = status;
    this.code = code;
    this.problems = problems;
  }
}

/** The header for a token. @throws ApiError 401 if it cannot contain it, as with an ellipsis. */
export function bearer(token: string): { readonly authorization: string } {
  if (/[^\x21-\x7e]/.test(token))
    throw new ApiError(401, 'unauthorized', 'Tokens contain only ASCII characters. Check what you pasted.');
  return { authorization: `Bearer ${token}` };
}

/** An answer. */
export interface ApiAnswer<T> {
  readonly body: T;
  readonly headers: Headers;
}

/** A request. */
export interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** Why requests cannot be answered now, in one sentence, as `/ready` gives it; null: nothing is known against it. */
export const outage: Store<string | null> = createStore<string | null>(null);

const isSilent = 'The server is not responding.';

const lookAgainMs = 2000;

/** Longer than the gateway keeps an answer of `/ready`. */
const keptReadyMs = 600;

/** The log of a local project leaves out these requests. */
const mark = { 'x-pgreflect-studio': '1' };

/** @throws ApiError for an error status or no answer; the signal's reason if aborted. */
export async function ask<T>(
  path: string,
  { method = 'GET', headers = {}, body, signal }: ApiRequest = {},
): Promise<ApiAnswer<T>> {
  const json = body === undefined ? {} : { body: JSON.stringify(body) };
  const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers: { ...mark, ...type, ...headers },
      ...json,
      ...(signal && { signal }),
    });
  } catch {
    signal?.throwIfAborted();
    noteOutage();
    throw unreachable();
  }
  const text = await response.text();
  const value = response.headers.get('content-type')?.includes('json') ? readJson(text) : text;
  if (response.ok) return { body: value as T, headers: response.headers };
  throw await explainError(toError(response.status, value));
}

/** No answer came. */
export function unreachable(): ApiError {
  return new ApiError(0, 'unreachable', isSilent);
}

/** A failure of the server itself says why, if no request can be answered now. */
export async function explainError(error: ApiError): Promise<ApiError> {
  const reason = await findReason(error.status, error.message);
  return reason === null ? error : new ApiError(error.status, error.code, reason);
}

/** Why no request can be answered now, after one that failed with this status; null: another cause. */
export async function findReason(status: number, message: string = isSilent): Promise<string | null> {
  if (status < 500) return null;
  let reason = await findOutage();
  if (reason === null) {
    // The database may have gone after `/ready` has looked.
    await new Promise((resolve) => setTimeout(resolve, keptReadyMs));
    // Or it is back already: what failed is asked for again.
    reason = (await findOutage()) ?? (status === 503 ? message : null);
  }
  if (reason !== null) noteOutage(reason);
  return reason;
}

/** The events of a stream; comments have neither name nor data. */
export async function* readEvents(
  body: ReadableStream<BufferSource>,
): AsyncGenerator<{ readonly name: string | null; readonly data: string | null }> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const events = (rest + part.value).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) {
      const of = (field: string) => {
        const lines = event.split('\n').filter((line) => line.startsWith(`${field}: `));
        return lines.length === 0 ? null : lines.map((line) => line.slice(field.length + 2)).join('\n');
      };
      yield { name: of('event'), data: of('data') };
    }
  }
}

function readJson(text: string): unknown {
  try {
    return text === '' ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

interface ErrorBody {
  readonly message?: string;
  readonly msg?: string;
  readonly code?: string;
  readonly problems?: readonly ChangeProblem[];
  readonly errors?: readonly {
    readonly message: string;
    readonly extensions?: { readonly code?: string; readonly id?: string };
  }[];
}

/** The message of an error with the id that it speaks of, under which the log has the cause. */
export function withId(message: string, id: string | undefined): string {
  return id === undefined ? message : message.replace('under this id', `under the id ${id}`);
}

/** The APIs have different error formats. */
function toError(status: number, value: unknown): ApiError {
  const { message, msg, code, errors, problems } = (value ?? {}) as ErrorBody;
  const first = errors?.[0];
  const text = message ?? msg ?? first?.message ?? `The server answered with status ${status}.`;
  const { extensions } = first ?? {};
  return new ApiError(status, String(code ?? extensions?.code ?? status), withId(text, extensions?.id), problems);
}

/** Why requests cannot be answered now; null: they can. */
async function findOutage(): Promise<string | null> {
  const response = await fetch('/ready').catch(() => null);
  if (response?.ok) return null;
  const body = response === null ? null : readJson(await response.text().catch(() => ''));
  // What stands before a server that is away answers for it.
  return (body as { readonly reason?: string } | null)?.reason ?? isSilent;
}

/** Call when a request could not be answered: asks again and again until requests can be. */
export function noteOutage(reason: string = isSilent): void {
  const isNew = outage.get() === null;
  outage.set(reason);
  if (!isNew) return;
  const look = async (): Promise<void> => {
    outage.set(await findOutage());
    if (outage.get() !== null) setTimeout(look, lookAgainMs);
  };
  setTimeout(look, lookAgainMs);
}

/** Resolves when requests can be answered, as far as is known. */
export function whenAnswered(): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (outage.get() !== null) return;
      leave();
      resolve();
    };
    const leave = outage.subscribe(look);
    look();
  });
}
