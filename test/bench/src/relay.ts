/**
 * A relay in front of PostgreSQL that counts what passes: bytes, round trips and `Parse` messages.
 *
 * A round trip begins whenever a connection's client speaks after its server has (or first of all), however many packets it takes.
 */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What has passed since the last reset, over all connections. */
export interface RelayCounts {
  readonly toServer: number;
  readonly toClient: number;
  readonly roundTrips: number;
  /** Statements that were not prepared yet. */
  readonly parses: number;
  /** Those of them that have the watched text in them. */
  readonly watchedParses: number;
}

/** A relay that listens. */
export interface Relay {
  /** Connection string that leads through the relay. */
  readonly url: string;
  counts(): RelayCounts;
  reset(): void;
  stop(): void;
}

const nothing: RelayCounts = { toServer: 0, toClient: 0, roundTrips: 0, parses: 0, watchedParses: 0 };

/** Starts a relay in front of the server of a connection string. @param watched A text to look for in statements. */
export async function startRelay(databaseUrl: string, watched?: string): Promise<Relay> {
  const url = new URL(databaseUrl);
  const server = { port: Number(url.port), host: url.hostname, noDelay: true };
  let counts = { ...nothing };
  const sockets = new Set<Socket>();
  const relay = createServer({ noDelay: true }, (client) => {
    const upstream = connect(server);
    let speaker: 'client' | 'server' = 'server';
    const readMessages = messageReader((kind, message) => {
      if (kind !== 'P') return;
      counts.parses += 1;
      if (watched !== undefined && message.includes(watched)) counts.watchedParses += 1;
    });
    client.on('data', (chunk: Buffer) => {
      if (speaker === 'server') counts.roundTrips += 1;
      speaker = 'client';
      counts.toServer += chunk.length;
      readMessages(chunk);
      upstream.write(chunk);
    });
    upstream.on('data', (chunk: Buffer) => {
      speaker = 'server';
      counts.toClient += chunk.length;
      client.write(chunk);
    });
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
  url.port = String((relay.address() as AddressInfo).port);
  return {
    url: url.href,
    counts: () => ({ ...counts }),
    reset: () => {
      counts = { ...nothing };
    },
    stop: () => {
      for (const socket of sockets) socket.destroy();
      relay.close();
    },
  };
}

/** Tells the kind of every message, and its bytes; the first one, the start-up, has none. */
function messageReader(onMessage: (kind: string, message: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let started = false;
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const head = started ? 1 : 0;
      if (rest.length < head + 4) return;
      const size = head + rest.readUInt32BE(head);
      if (rest.length < size) return;
      if (started) onMessage(String.fromCharCode(rest[0] ?? 0), rest.subarray(0, size));
      started = true;
      rest = rest.subarray(size);
    }
  };
}
