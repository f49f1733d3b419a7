/**
 * Many clients that wait for changes of their room: over Server-Sent Events, or by asking every second, which is what there is without
 * live queries. Written on node:net, as the load is.
 */
import { connect, type Socket } from 'node:net';
import { postRequest } from './load.ts';
import { anonKey, ourRequest, tokenOf } from './targets.ts';

/** How the clients come to know of changes. */
export type Way = 'live' | 'polling';

/** Connected clients. */
export interface Watchers {
  /** Notes a commit: the number that it wrote, the rooms it wrote to. */
  committed(n: number, rooms: ReadonlySet<number>): void;
  /** Waits until everybody has the last number of their room. @returns milliseconds from commits to clients, sorted. */
  finish(): Promise<readonly number[]>;
  close(): void;
}

interface Watcher {
  readonly room: number;
  readonly seen: Set<number>;
  last: number;
}

const selection = 'messageCollection(orderBy: [{ id: AscNullsLast }], first: 20) { nodes { id n body } }';
const everyMs = 1000;
const patienceMs = 60_000;

/**
 * Connects one client for each entry of `rooms`. Clients of the same room are equal callers.
 *
 * Rejects if one has no first answer in a minute.
 */
export async function startWatchers(port: number, rooms: readonly number[], way: Way): Promise<Watchers> {
  const commits = new Map<number, { readonly at: number; readonly rooms: ReadonlySet<number> }>();
  const latencies: number[] = [];
  const watchers = rooms.map((room): Watcher => ({ room, seen: new Set(), last: -1 }));
  const sockets: Socket[] = [];
  const onNumber = (watcher: Watcher, n: number) => {
    watcher.last = Math.max(watcher.last, n);
    const commit = commits.get(n);
    if (commit === undefined || watcher.seen.has(n)) return;
    watcher.seen.add(n);
    latencies.push(performance.now() - commit.at);
  };
  // Hundreds at a time: a listener's queue is not endless.
  for (let begin = 0; begin < watchers.length; begin += 200) {
    const some = watchers.slice(begin, begin + 200);
    const opened = some.map((watcher) => open(port, watcher.room, way, (n) => onNumber(watcher, n)));
    sockets.push(...(await Promise.all(opened)));
  }
  const expected = new Map<number, number>();
  return {
    committed(n, written) {
      commits.set(n, { at: performance.now(), rooms: written });
      for (const room of written) expected.set(room, n);
    },
    async finish() {
      const end = performance.now() + patienceMs;
      const isLate = ({ room, last }: Watcher) => last < (expected.get(room) ?? 0);
      while (watchers.some(isLate)) {
        if (performance.now() > end) throw new Error(`${watchers.filter(isLate).length} clients miss the last change.`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return latencies.sort((a, b) => a - b);
    },
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Resolves with the first answer. */
function open(port: number, room: number, way: Way, onNumber: (n: number) => void): Promise<Socket> {
  const token = tokenOf({
    role: 'authenticated',
    sub: `00000000-0000-4000-8000-${String(room).padStart(12, '0')}`,
    room,
  });
  const request = way === 'polling' ? ourRequest(`{ ${selection} }`, {}, token) : subscribe(token);
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const fail = (reason: string) => reject(new Error(`A client of room ${room} ${reason}.`));
    const late = setTimeout(() => fail('has no answer after a minute'), patienceMs);
    let tail = '';
    let askAgain: NodeJS.Timeout | null = null;
    const ask = () => socket.write(request);
    socket.on('connect', ask);
    socket.on('error', reject);
    socket.on('close', () => {
      // Otherwise it would take the processor from what is measured next.
      clearTimeout(askAgain ?? undefined);
      fail('was disconnected');
    });
    socket.on('data', (chunk) => {
      const text = tail + chunk.toString('latin1');
      // Refused for a moment, as all clients know it.
      if (text.startsWith('HTTP/1.1 503')) return void setTimeout(ask, 200);
      if (text.includes('"errors"') || /^HTTP\/1\.1 [^2]/.test(text))
        return fail(`got ${text.split('\r\n\r\n').at(-1)?.slice(0, 300)}`);
      for (const [, n] of text.matchAll(/"n":(\d+),/g)) onNumber(Number(n));
      // A number may be cut in two.
      tail = text.slice(-16);
      if (!text.includes('messageCollection')) return;
      clearTimeout(late);
      resolve(socket);
      if (way === 'polling' && !askAgain) {
        // Not all at once.
        askAgain = setTimeout(() => {
          ask();
          askAgain = setInterval(ask, everyMs);
        }, Math.random() * everyMs);
      }
    });
  });
}

function subscribe(token: string): Buffer {
  const headers = { apikey: anonKey(), authorization: `Bearer ${token}` };
  const request = postRequest('/graphql/v1', headers, JSON.stringify({ query: `subscription { ${selection} }` }));
  return Buffer.from(request.toString().replace('accept: application/json', 'accept: text/event-stream'));
}
