/** Subscribers of both protocols: Server-Sent Events, and WebSockets with the protocol's own client. */
import { createClient } from 'graphql-ws';
import { onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { anonKey } from './http.ts';
import type { WhenOver } from './when-over.ts';

/** What a subscriber gets. */
export interface Heard {
  /** The answers so far. */
  readonly results: readonly unknown[];
  /** The next answer that was not taken yet. */
  next(): Promise<Result>;
  /** Resolves when it is over: with `complete`, or what went wrong. */
  readonly end: Promise<unknown>;
  stop(): void;
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
export type Result = any;

export interface Subscribing {
  /** Empty: it is named in `named`. */
  readonly query: string;
  /** Other members of the request. */
  readonly named?: Readonly<Record<string, unknown>>;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Sink {
  next(value: unknown): void;
  error(problem: unknown): void;
  complete(): void;
}

function listen(subscribe: (sink: Sink) => () => void, whenOver: WhenOver): Heard {
  const results: unknown[] = [];
  let taken = 0;
  let wake = () => {};
  const { promise: end, resolve } = Promise.withResolvers<unknown>();
  const stop = subscribe({
    next(value) {
      results.push(value);
      wake();
    },
    error: resolve,
    complete: () => resolve('complete'),
  });
  whenOver(async () => stop());
  return {
    results,
    end,
    stop,
    async next() {
      while (results.length <= taken) {
        await new Promise<void>((done) => {
          wake = done;
        });
      }
      taken += 1;
      return results[taken - 1];
    },
  };
}

/** One event of a stream. */
export interface StreamEvent {
  readonly id: string | null;
  readonly event: string;
  readonly data: string;
}

/** Reads a stream as a browser does (HTML standard, section 9.2.6). */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    for (let at = text.indexOf('\n\n'); at !== -1; at = text.indexOf('\n\n')) {
      const fields = text.slice(0, at).split('\n');
      text = text.slice(at + 2);
      const of = (name: string) =>
        fields.filter((field) => field.startsWith(`${name}:`)).map((field) => field.slice(name.length + 1).trimStart());
      const [event] = of('event');
      if (event !== undefined) yield { id: of('id')[0] ?? null, event, data: of('data').join('\n') };
    }
  }
}

/** Subscribes with POST, as clients of GraphQL over SSE do in the distinct connections mode. */
export function overEvents(
  url: string,
  { query, named, variables, headers = { apikey: anonKey } }: Subscribing,
  whenOver: WhenOver = onTestFinished,
): Heard {
  return listen((sink) => {
    const left = new AbortController();
    const read = async () => {
      const response = await fetch(`${url}/graphql/v1`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify({ query, variables, ...named }),
        signal: left.signal,
      });
      if (response.status !== 200) {
        const isJson = response.headers.get('content-type')?.startsWith('application/json');
        return sink.error({ status: response.status, body: await (isJson ? response.json() : response.text()) });
      }
      for await (const { event, data } of readEvents(response.body!)) {
        if (event === 'complete') return sink.complete();
        sink.next(JSON.parse(data));
      }
      sink.error(new Error('the stream has ended without the event complete'));
    };
    read().catch((error: unknown) => sink.error(error));
    return () => left.abort();
  }, whenOver);
}

/** Subscribes over a WebSocket of its own. */
export function overSocket(
  url: string,
  { query, named, variables, headers = { apikey: anonKey } }: Subscribing,
  whenOver: WhenOver = onTestFinished,
): Heard {
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql/v1`,
    webSocketImpl: WebSocket,
    connectionParams: headers,
    retryAttempts: 0,
  });
  const heard = listen((sink) => client.subscribe({ query, variables: variables ?? null, ...named }, sink), whenOver);
  whenOver(async () => client.dispose());
  return heard;
}
