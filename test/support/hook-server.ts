/**
 * A server for webhooks: checks every signature with a library that is not ours, keeps what it gets, and answers what it is
 * told to.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { onTestFinished } from 'vitest';
import type { WhenOver } from './when-over.ts';

/** What signs the requests, as the configuration has it. */
export const hookSecret = `v1,whsec_${Buffer.from('a secret of thirty-two bytes long').toString('base64')}`;

/** A request that came with a good signature. */
export interface HookRequest {
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  readonly payload: any;
  readonly headers: IncomingMessage['headers'];
  readonly path: string;
}

/** What it answers. A text that is no JSON object is sent as it is. */
export interface HookReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

type MakeReply = (request: HookRequest) => HookReply | null | Promise<HookReply>;

/** The server; stopped when the test has ended. */
export interface HookServer {
  readonly url: string;
  readonly requests: readonly HookRequest[];
  /** Requests that came without a good signature; they are answered 401. */
  readonly unsigned: readonly string[];
  /** What it answers from now on: a reply, what makes one of a request, or null: nothing, ever. */
  answer(reply: HookReply | MakeReply | null): void;
  /** Nobody listens at its address any more. */
  stop(): Promise<void>;
}

/** Starts it. It answers `{}` until it is told something else. @param secret Null: nothing is signed. */
export async function startHookServer(
  secret: string | null = hookSecret,
  whenOver: WhenOver = onTestFinished,
): Promise<HookServer> {
  const requests: HookRequest[] = [];
  const unsigned: string[] = [];
  let reply: MakeReply = () => ({});
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    if (secret !== null && !isSigned(text, request.headers, secret)) {
      unsigned.push(text);
      return respond(response, { status: 401 });
    }
    const isJson = request.headers['content-type'] === 'application/json';
    const received = {
      payload: isJson ? JSON.parse(text) : text,
      headers: request.headers,
      path: request.url ?? '',
    };
    requests.push(received);
    const next = await reply(received);
    if (next !== null) respond(response, next);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  whenOver(stop);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    unsigned,
    answer(next) {
      reply = typeof next === 'function' ? next : () => next;
    },
    stop,
  };
}

function isSigned(text: string, headers: IncomingMessage['headers'], secret: string): boolean {
  try {
    new Webhook(secret.replace(/^v1,/, '')).verify(text, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

function respond(response: ServerResponse, { status = 200, headers, body = {} }: HookReply): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(status === 204 ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
}
