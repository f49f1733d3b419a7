/**
 * Sends requests over keep-alive sockets, one at a time on each, for a fixed time, and notes how long each took.
 *
 * Written on node:net with prepared bytes, because on a small machine the load generator's own work would otherwise be what
 * is measured. Loopback only.
 */
import { connect, type Socket } from 'node:net';

/** What one run measured. */
export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  /** Latencies in milliseconds, sorted. */
  readonly latencies: readonly number[];
}

/** Where to send and what: whole requests, used in turn by all sockets, again and again or each of them once. */
export interface Load {
  readonly port: number;
  readonly requests: readonly Buffer[];
  readonly sockets: number;
  readonly seconds: number;
  readonly once?: boolean;
  /** Time from one request of a socket to its next, in milliseconds, where a server is not to be driven to its limit. */
  readonly everyMs?: number;
}

/** The bytes of one POST with a JSON body. */
export function postRequest(path: string, headers: Readonly<Record<string, string>>, body: string): Buffer {
  const head = [
    `POST ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    'content-type: application/json',
    'accept: application/json',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** Share of the requests that a server may refuse with 503, as one does that was stopped for a moment while very many waited. */
const mostRefused = 1 / 1000;
const retryMs = 100;

/**
 * Runs the load. Rejects on a status other than 200, a body that begins with errors, or a closed socket: a broken server
 * must not look fast. A few refusals are sent again, and counted as nothing.
 */
export async function runLoad(load: Load): Promise<LoadResult> {
  const { port, requests, sockets, seconds, once = false, everyMs = 0 } = load;
  const latencies: number[] = [];
  const start = performance.now();
  const end = start + seconds * 1000;
  let turn = 0;
  let refused = 0;
  const mayRefuse = () => {
    refused += 1;
    return refused <= Math.max(sockets, latencies.length * mostRefused);
  };
  const nextRequest = () => (once && turn >= requests.length ? null : (requests[turn++ % requests.length] ?? null));
  await Promise.all(
    Array.from({ length: sockets }, () => runSocket({ port, end, nextRequest, mayRefuse, latencies, everyMs })),
  );
  const elapsed = (performance.now() - start) / 1000;
  return { requests: latencies.length, seconds: elapsed, latencies: latencies.sort((a, b) => a - b) };
}

interface SocketRun {
  readonly port: number;
  /** Of `performance.now()`. */
  readonly end: number;
  readonly nextRequest: () => Buffer | null;
  /** Counts one that was refused. */
  readonly mayRefuse: () => boolean;
  readonly latencies: number[];
  readonly everyMs: number;
}

function runSocket({ port, end, nextRequest, mayRefuse, latencies, everyMs }: SocketRun): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let sent = 0;
    const finish = () => {
      socket.removeAllListeners('close');
      socket.destroy();
      resolve();
    };
    const send = () => {
      const request = nextRequest();
      if (request === null) return finish();
      sent = performance.now();
      socket.write(request);
    };
    const onResponse = (problem: string | null) => {
      if (problem?.startsWith('HTTP/1.1 503') && mayRefuse()) return void setTimeout(send, retryMs);
      if (problem !== null) return reject(new Error(`unexpected answer: ${problem}`));
      const now = performance.now();
      latencies.push(now - sent);
      const waitMs = sent + everyMs - now;
      if (now + Math.max(0, waitMs) >= end) finish();
      else if (waitMs > 0) setTimeout(send, waitMs);
      else send();
    };
    socket.on('connect', send);
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`port ${port} closed the connection`)));
    readResponses(socket, onResponse);
  });
}

/**
 * Finds the end of each response by its length or its last chunk, without looking at the body.
 *
 * @param onResponse Gets the beginning of an answer that is not as it should be, else null.
 */
export function readResponses(socket: Socket, onResponse: (problem: string | null) => void): void {
  let head = '';
  let problem: string | null = null;
  let missing = -1;
  let tail = '';
  socket.on('data', (chunk) => {
    let body = chunk.length;
    if (missing < 0 && tail === '') {
      head += chunk.toString('latin1');
      const split = head.indexOf('\r\n\r\n');
      if (split < 0) return;
      const top = head.slice(0, split).toLowerCase();
      const isGood = top.startsWith('http/1.1 200') && !head.startsWith('{"errors"', split + 4);
      problem = isGood ? null : head.slice(0, 600);
      body = head.length - split - 4;
      const length = /content-length: (\d+)/.exec(top)?.[1];
      if (length === undefined) tail = head.slice(split + 4) || ' ';
      else missing = Number(length);
      head = '';
    } else if (tail !== '') tail = (tail + chunk.toString('latin1', Math.max(0, chunk.length - 7))).slice(-7);
    if (tail !== '') {
      if (!tail.endsWith('0\r\n\r\n')) return;
      tail = '';
    } else {
      missing -= body;
      if (missing > 0) return;
      missing = -1;
    }
    onResponse(problem);
  });
}
