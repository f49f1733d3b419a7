/**
 * What holds for connections beside their requests: how many there may be, how long one may keep us waiting, what becomes of one whose
 * client has said all it wants to say, and how they end with the server.
 *
 * Promise: no client keeps a connection, or memory, by doing nothing.
 */
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../config/config.ts';
import type { Observe } from '../../shared/observation.ts';
import { createTrust, networkOf, parseAddress } from '../caller/client-address.ts';
import { reportCounts } from '../server/report-counts.ts';

/** Longest wait for a client to take more of an answer, in milliseconds. */
export const readTimeoutMs = 30_000;
/** The same while the server closes, and the time that requests have to arrive then. */
const hurryMs = 1000;
/** How often it is found out whether a client that has ended its side still listens, in milliseconds. */
const probeEveryMs = 250;

const local: ReadonlySet<string> = new Set(['127.0.0.1', '::1']);

/** Node's own: the answer that the socket is at, of a request that may still be arriving. */
interface HttpSocket extends Socket {
  readonly _httpMessage?: ServerResponse | null;
}

/** The connections of one server. */
class Connections {
  readonly #server: Server;
  readonly #maxPerNetwork: number;
  readonly #isExempt: (address: string) => boolean;
  readonly #open = new Set<HttpSocket>();
  readonly #perNetwork = new Map<string, number>();
  #isClosing = false;

  constructor(server: Server, { maxConnectionsPerAddress, trustedProxies }: ConnectionLimits) {
    this.#server = server;
    this.#maxPerNetwork = maxConnectionsPerAddress;
    const isTrusted = createTrust(trustedProxies);
    this.#isExempt = (address) => local.has(address) || isTrusted(address);
  }

  /** False: its network has too many already. */
  add(socket: HttpSocket): boolean {
    const address = parseAddress(socket.remoteAddress);
    const network = address === null || this.#isExempt(address) ? null : networkOf(address);
    const count = network === null ? 0 : (this.#perNetwork.get(network) ?? 0);
    if (count >= this.#maxPerNetwork) return false;
    if (network !== null) this.#perNetwork.set(network, count + 1);
    this.#open.add(socket);
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

  /** Nothing has come or gone for a while. */
  handleTimeout(socket: HttpSocket): void {
    const response = socket._httpMessage ?? null;
    const isOurTurn = socket.writableLength === 0 && response?.req.complete === true;
    // A request that is still arriving, the first one too, has the time of a request. An idle connection has another one by now.
    const isArriving = !this.#isClosing && socket.writableLength === 0 && socket.timeout === this.#server.timeout;
    if (isOurTurn || isArriving) socket.setTimeout(socket.timeout as number);
    else socket.destroy();
  }

  /**
   * The client has ended its side. One that has only done that gets its answer; one that has left says so when something is
   * sent: the interim response that HTTP has for "working on it".
   */
  #probe(socket: HttpSocket): void {
    const response = socket._httpMessage ?? null;
    if (response === null || response.req.httpVersion === '1.0') return;
    // What is sent to one that has left fails from the second time on.
    const timer = setInterval(() => {
      const isUnanswered = socket._httpMessage === response && !response.headersSent;
      if (isUnanswered && socket.writable) response.writeProcessing();
      else clearInterval(timer);
    }, probeEveryMs);
    socket.once('close', () => clearInterval(timer));
  }

  /** The server closes: who does nothing for his request or answer is not waited for. */
  hurry(): void {
    this.#isClosing = true;
    for (const socket of this.#open) socket.setTimeout(hurryMs);
    const timer = setTimeout(() => {
      for (const socket of this.#open) if (socket._httpMessage?.req.complete !== true) socket.destroy();
    }, hurryMs);
    this.#server.once('close', () => clearTimeout(timer));
  }
}

/** The part of the configuration that bounds connections. */
export type ConnectionLimits = Pick<Config, 'maxConnections' | 'maxConnectionsPerAddress' | 'trustedProxies'>;

/** Makes the rules hold for a server whose timeout is `readTimeoutMs`. */
export function guardConnections(app: FastifyInstance, limits: ConnectionLimits, observe: Observe): void {
  const { server } = app;
  const connections = new Connections(server, limits);
  const noteRefused = reportCounts((count) => observe({ kind: 'connections_refused', count }));
  server.maxConnections = limits.maxConnections;
  // A client may end its side after its request; the type declarations leave it out.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('drop', noteRefused);
  server.on('connection', (socket: Socket) => {
    if (connections.add(socket)) return;
    socket.destroy();
    noteRefused();
  });
  server.on('timeout', (socket: Socket) => connections.handleTimeout(socket));
  app.addHook('preClose', (done) => {
    connections.hurry();
    done();
  });
}
