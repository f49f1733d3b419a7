/**
 * A TCP proxy between a client and PostgreSQL that counts round trips and can hurt the connection at a chosen moment.
 *
 * A round trip is one burst of bytes from the client with the answer that follows it, however many packets each of them
 * takes: the count rises whenever the client speaks after the server has (or first of all). So a client that waits for
 * an answer between two messages is caught, whatever the network does to its packets.
 */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { TestDatabase } from './postgres.ts';

/** What to do with a packet: pass it on, drop it, or cut the connection; a number = pass so many bytes of it, then cut. */
type Verdict = 'pass' | 'drop' | 'cut' | number;

/** Looks at each packet on its way. `roundTrip` counts from 1 within the connection, its start-up included. */
export type Inspector = (from: 'client' | 'server', packet: Buffer, roundTrip: number) => Verdict;

/** Names another server process than there is (BackendKeyData), as a pooler does, whose clients have none of their own. */
export const asPooler: Inspector = namingProcess((pid) => pid + 1);

/** As `asPooler`, with the number of the process to name. */
export function namingProcess(name: (pid: number) => number): Inspector {
  return (from, packet) => {
    const at = from === 'server' ? packet.indexOf(Buffer.from([0x4b, 0, 0, 0, 12])) : -1;
    if (at !== -1) packet.writeInt32BE(name(packet.readInt32BE(at + 5)), at + 5);
    return 'pass';
  };
}

export interface RecordingProxy {
  /** Connection string that leads through the proxy. */
  readonly url: string;
  /** Round trips since the last `reset`, over all connections. */
  roundTrips(): number;
  /** Connections opened since the last `reset`; cancel requests count. */
  connections(): number;
  reset(): void;
  /** Replaces the inspector; null = pass everything. */
  inspect(inspector: Inspector | null): void;
  /** Cuts every open connection. */
  cut(): void;
  /** Delays every packet in both directions, in milliseconds. */
  delay(milliseconds: number): void;
  stop(): Promise<void>;
}

/** The database, with logins that lead through the proxy. */
export function through(proxy: RecordingProxy, database: TestDatabase): TestDatabase {
  const urlAs = (role: string, password: string) =>
    Object.assign(new URL(proxy.url), { username: role, password }).href;
  return { ...database, urlAs };
}

/** Starts a proxy in front of the server of a connection string. */
export async function startRecordingProxy(targetUrl: string): Promise<RecordingProxy> {
  const target = new URL(targetUrl);
  const sockets = new Set<Socket>();
  let roundTrips = 0;
  let connections = 0;
  let delayMs = 0;
  let inspector: Inspector | null = null;

  const server = createServer((client) => {
    connections += 1;
    const upstream = connect(Number(target.port || 5432), target.hostname);
    let own = 0;
    let speaker: 'client' | 'server' = 'server';
    const close = () => {
      client.destroy();
      upstream.destroy();
    };
    const relay = (from: 'client' | 'server', packet: Buffer) => {
      if (from === 'client' && speaker === 'server') {
        own += 1;
        roundTrips += 1;
      }
      speaker = from;
      const verdict = inspector?.(from, packet, own) ?? 'pass';
      const to = from === 'client' ? upstream : client;
      const pass = () => {
        if (verdict === 'drop') return;
        if (verdict === 'cut') close();
        else if (verdict === 'pass') to.write(packet);
        else to.write(packet.subarray(0, verdict), close);
      };
      if (delayMs === 0) pass();
      else setTimeout(pass, delayMs);
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        setTimeout(close, delayMs);
      });
    }
    client.on('data', (packet: Buffer) => relay('client', packet));
    upstream.on('data', (packet: Buffer) => relay('server', packet));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(targetUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: url.href,
    roundTrips: () => roundTrips,
    connections: () => connections,
    reset() {
      roundTrips = 0;
      connections = 0;
    },
    inspect(next) {
      inspector = next;
    },
    cut,
    delay(milliseconds) {
      delayMs = milliseconds;
    },
    async stop() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
