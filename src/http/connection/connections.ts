/**
 * Limits of connections: their number, idle and stalled times, unread answers, half-closed ones, and how they end when
 * the server stops.
 *
 * Guarantee: no idle client keeps a connection or memory, and what waits to be read is bounded.
 */
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../config/config.ts';
import type { Observe } from '../../shared/observation.ts';
import { createTrust, networkOf, parseAddress } from '../caller/client-address.ts';
import { reportCounts } from './report-counts.ts';

/** Longest pause of a client in reading an answer, in milliseconds. */
export const readTimeoutMs = 30_000;
/** The same while the server closes, and the time left for requests to arrive. */
const hurryMs = 1000;
/** Interval in milliseconds for probing whether a half-closed client still reads. */
const probeEveryMs = 250;
/** Limit of all unread answers together, in bytes, and the fewest answers of the largest size that it allows. */
const mostUnreadBytes = 256 * 1024 * 1024;
const fewestUnread = 2;
/** Interval in milliseconds for looking at them. */
const lookEveryMs = 100;

/** Where proxies of this machine come from, for many clients. Other loopback addresses are counted as any. */
const local: ReadonlySet<string> = new Set(['127.0.0.1', '::1']);

/** Node's internal field: the response the socket is writing; its request may still be arriving. */
interface HttpSocket extends Socket {
  readonly _httpMessage?: ServerResponse | null;
}

/** The connections of one server. */
class Connections {
  readonly #server: Server;
  readonly #maxPerNetwork: number;
  readonly #isExempt: (address: string) => boolean;
  /** With its network; null: not counted. */
  readonly #open = new Map<HttpSocket, string | null>();
  readonly #perNetwork = new Map<string, number>();
  #isClosing = false;

  constructor(server: Server, { maxConnectionsPerAddress, trustedProxies }: ConnectionLimits) {
    this.#server = server;
    this.#maxPerNetwork = maxConnectionsPerAddress;
    const isTrusted = createTrust(trustedProxies);
    this.#isExempt = (address) => local.has(address) || isTrusted(address);
  }

  /** False: its network has too many connections already. */
  add(socket: HttpSocket): boolean {
    const address = parseAddress(socket.remoteAddress);
    const network = address === null || this.#isExempt(address) ? null : networkOf(address);
    const count = network === null ? 0 : (this.#perNetwork.get(network) ?? 0);
    if (count >= this.#maxPerNetwork) return false;
    if (network !== null) this.#perNetwork.set(network, count + 1);
    this.#open.set(socket, network);
    socket.once('close', () => {
      this.#open.delete(socket);
      if (network !== null) this.#remove(network);
    });
    socket.once('end', () => this.#probe(socket));
    return true;
  }

  #remove(network: string): void {
    const count = (this.#perNetwork.get(network) ?? 0) - 1;
    if (count > 0) this.#perNetwork.set(network, count);
    else this.#perNetwork.delete(network);
  }

  /** The socket was idle for its timeout. */
  handleTimeout(socket: HttpSocket): void {
    const response = socket._httpMessage ?? null;
    const isOurTurn = socket.writableLength === 0 && response?.req.complete === true;
    // A request that is still arriving has the receive timeout; an idle connection has a different one by now.
    const isArriving = !this.#isClosing && socket.writableLength === 0 && socket.timeout === this.#server.timeout;
    if (isOurTurn || isArriving) socket.setTimeout(socket.timeout as number);
    else socket.destroy();
  }

  /**
   * Handles a half-closed socket. A client that still reads gets its answer. A disconnect shows only on a write, so an
   * interim response (102) is sent.
   */
  #probe(socket: HttpSocket): void {
    const response = socket._httpMessage ?? null;
    if (response === null || response.req.httpVersion === '1.0') return;
    // After a disconnect, the second write fails.
    const timer = setInterval(() => {
      const isUnanswered = socket._httpMessage === response && !response.headersSent;
      if (isUnanswered && socket.writable) response.writeProcessing();
      else clearInterval(timer);
    }, probeEveryMs);
    socket.once('close', () => clearInterval(timer));
  }

  /**
   * Closes connections while all unread answers exceed the limit: in the network with most of them, the one with most.
   *
   * @returns The number of closed ones.
   */
  closeUnread(mostBytes: number): number {
    for (let closed = 0; ; closed += 1) {
      const unread = new Map<string | null, number>();
      let bytes = 0;
      for (const [{ writableLength }, network] of this.#open) {
        bytes += writableLength;
        unread.set(network, (unread.get(network) ?? 0) + writableLength);
      }
      if (bytes <= mostBytes) return closed;
      const of = mostOf([...unread.keys()], (network) => unread.get(network)!);
      const socket = mostOf([...this.#open.keys()], (each) => (this.#open.get(each) === of ? each.writableLength : 0));
      this.#open.delete(socket);
      socket.destroy();
    }
  }

  /** On shutdown: closes connections whose clients neither send nor read. */
  hurry(): void {
    this.#isClosing = true;
    for (const socket of this.#open.keys()) socket.setTimeout(hurryMs);
    const timer = setTimeout(() => {
      for (const socket of this.#open.keys()) if (socket._httpMessage?.req.complete !== true) socket.destroy();
    }, hurryMs);
    this.#server.once('close', () => clearTimeout(timer));
  }
}

/** The one with the most; of several, the first. */
function mostOf<Each>(all: readonly Each[], amount: (each: Each) => number): Each {
  return all.reduce((most, each) => (amount(each) > amount(most) ? each : most));
}

type ConnectionLimits = Pick<Config, 'maxConnections' | 'maxConnectionsPerAddress' | 'trustedProxies' | 'limits'>;

/** Applies the rules to a server whose timeout is `readTimeoutMs`. */
export function guardConnections(app: FastifyInstance, limits: ConnectionLimits, observe: Observe): void {
  const { server } = app;
  const connections = new Connections(server, limits);
  const noteRefused = reportCounts((count) => observe({ kind: 'connections_refused', count }));
  server.maxConnections = limits.maxConnections;
  // Allow half-closed clients; the type declarations lack this option.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('drop', noteRefused);
  server.on('connection', (socket: Socket) => {
    if (connections.add(socket)) return;
    socket.destroy();
    noteRefused();
  });
  const mostBytes = Math.max(mostUnreadBytes, fewestUnread * limits.limits.maxResponseBytes);
  const timer = setInterval(() => {
    const count = connections.closeUnread(mostBytes);
    if (count > 0) observe({ kind: 'unread_closed', count });
  }, lookEveryMs).unref();
  server.once('close', () => clearInterval(timer));
  server.on('timeout', (socket: Socket) => connections.handleTimeout(socket));
  app.addHook('preClose', (done) => {
    connections.hurry();
    done();
  });
}
