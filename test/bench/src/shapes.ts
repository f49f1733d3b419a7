/**
 * Two hundred operations of different shapes in turn: how often a connection already has the statement prepared, and
 * whether the gateway's memory stays where it is.
 *
 * The gateway of this measurement reaches PostgreSQL through a relay that counts the protocol's messages: a statement that
 * is not prepared costs a Parse, every statement costs a Bind.
 */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { BenchDatabase } from './database.ts';
import { runLoad } from './load.ts';
import { residentMib } from './processes.ts';
import { ourRequest, startOurs } from './targets.ts';

/** What was found after every connection has met every shape. */
export interface ShapesResult {
  readonly shapes: number;
  readonly requests: number;
  /** Share of the requests whose statements were all prepared already. */
  readonly hitRate: number;
  readonly beforeMib: number;
  readonly afterMib: number;
}

const shapes = 200;
const columns = ['id', 'accountId', 'title', 'score', 'publishedAt'];

/** Every shape: another selection of columns, in another order, under other names. */
function documents(): string[] {
  return Array.from({ length: shapes }, (_, index) => {
    const fields = columns
      .filter((_column, bit) => (index >> bit) & 1)
      .map((column) => `c${index}_${column}: ${column}`);
    return `query ($n: Int!) { postByPk(id: $n) { id ${fields.join(' ')} x${index}: nodeId } }`;
  });
}

/** Runs the shapes against a gateway of their own. */
export async function measureShapes(db: BenchDatabase, poolSize: number, seconds: number): Promise<ShapesResult> {
  const relay = await startRelay(new URL(db.loginUrl));
  const url = new URL(db.loginUrl);
  url.port = String(relay.port);
  const { target } = await startOurs(url.href, poolSize);
  try {
    const requests = documents().map((query, index) => ourRequest(query, { n: 1 + index }));
    const load = { port: target.port, requests, sockets: 2 * poolSize };
    // Until each connection has met each shape several times.
    await runLoad({ ...load, seconds: Math.max(4, seconds) });
    const beforeMib = residentMib(target.pid);
    relay.reset();
    const { requests: count } = await runLoad({ ...load, seconds });
    const hitRate = 1 - relay.parses() / count;
    return { shapes, requests: count, hitRate, beforeMib, afterMib: residentMib(target.pid) };
  } finally {
    await target.stop();
    relay.stop();
  }
}

/** Passes bytes on and counts the messages of the clients. */
async function startRelay(server: URL) {
  let parses = 0;
  const sockets = new Set<Socket>();
  const relay = createServer((client) => {
    const upstream = connect({ port: Number(server.port), host: server.hostname, noDelay: true });
    client.setNoDelay(true);
    const count = messageCounter((kind) => {
      if (kind === 'P') parses += 1;
    });
    client.on('data', (chunk) => {
      count(chunk as Buffer);
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => client.write(chunk));
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  return {
    port: (relay.address() as AddressInfo).port,
    parses: () => parses,
    reset: () => {
      parses = 0;
    },
    stop: () => {
      for (const socket of sockets) socket.destroy();
      relay.close();
    },
  };
}

/** Tells the kind of every message; the first one, the start-up, has none. */
function messageCounter(onMessage: (kind: string) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let started = false;
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const head = started ? 1 : 0;
      if (rest.length < head + 4) return;
      const size = head + rest.readUInt32BE(head);
      if (rest.length < size) return;
      if (started) onMessage(String.fromCharCode(rest[0] ?? 0));
      started = true;
      rest = rest.subarray(size);
    }
  };
}
