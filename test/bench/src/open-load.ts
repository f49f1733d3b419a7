/**
 * Sends requests at a fixed rate whatever becomes of them, as many clients do that know nothing of each other: a server that is
 * late gets no fewer. Each request is timed from the moment when it was due.
 */
import { connect, type Socket } from 'node:net';
import { readResponses } from './load.ts';

/** What to send, and how fast. */
export interface OpenLoad {
  readonly port: number;
  /** Used in turn. */
  readonly requests: readonly Buffer[];
  readonly perSecond: number;
  readonly seconds: number;
  /** Most requests under way; further ones wait for a socket, and that counts as their latency. */
  readonly sockets: number;
}

/** What became of the requests; latencies in milliseconds, sorted. */
export interface OpenLoadResult {
  readonly seconds: number;
  readonly answered: readonly number[];
  /** Those answered by 503 with `Retry-After`. */
  readonly refused: readonly number[];
}

/** Between two looks at what is due, in milliseconds. */
const tickMs = 2;

/** Runs the load and waits for all answers. Rejects where an answer is neither good nor a refusal. */
export async function runOpenLoad(load: OpenLoad): Promise<OpenLoadResult> {
  const { requests, perSecond, seconds, sockets: count } = load;
  const total = Math.round(perSecond * seconds);
  const [answered, refused]: [number[], number[]] = [[], []];
  const sockets = await Promise.all(Array.from({ length: count }, () => openSocket(load.port)));
  const start = performance.now();
  const dueAt = (index: number) => start + (index / perSecond) * 1000;
  await new Promise<void>((resolve, reject) => {
    const idle = [...sockets];
    let sent = 0;
    let over = 0;
    const send = () => {
      const now = performance.now();
      while (sent < total && idle.length > 0 && dueAt(sent) <= now) {
        const socket = idle.pop() as Socket;
        socket.write(requests[sent % requests.length] as Buffer);
        asked.set(socket, dueAt(sent));
        sent += 1;
      }
    };
    const asked = new Map<Socket, number>();
    for (const socket of sockets) {
      readResponses(socket, (problem) => {
        const isRefusal = problem !== null && isRefused(problem);
        if (problem !== null && !isRefusal) return reject(new Error(`unexpected answer: ${problem}`));
        (isRefusal ? refused : answered).push(performance.now() - (asked.get(socket) ?? 0));
        idle.push(socket);
        over += 1;
        if (over === total) resolve();
      });
      socket.on('error', reject);
      socket.on('close', () => reject(new Error(`port ${load.port} closed the connection`)));
    }
    const ticks = setInterval(() => {
      send();
      if (sent === total) clearInterval(ticks);
    }, tickMs);
  });
  const elapsed = (performance.now() - start) / 1000;
  for (const socket of sockets) socket.removeAllListeners('close').destroy();
  const sorted = (latencies: number[]) => latencies.sort((a, b) => a - b);
  return { seconds: elapsed, answered: sorted(answered), refused: sorted(refused) };
}

function isRefused(answer: string): boolean {
  return answer.startsWith('HTTP/1.1 503') && /\r\nretry-after: \d/i.test(answer);
}

function openSocket(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.once('connect', () => resolve(socket));
    socket.once('error', reject);
  });
}
