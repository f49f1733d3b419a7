/**
 * Limits of connections: their number and memory, idle and stalled times, half-closed ones, and how they end when the
 * server stops.
 *
 * Guarantee: no idle client keeps a connection or memory, and requests, answers that are being made and unread answers
 * take a bounded part of it (buffered-limit.ts).
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../config/config.ts';
import type { Observe } from '../../shared/observation.ts';
import { type ClientAddress, createTrust, networkOf, parseAddress } from '../caller/client-address.ts';
import { bufferedLimit } from './buffered-limit.ts';
import { reportCounts } from './report-counts.ts';

/** Longest pause of a client in reading an answer, in milliseconds. */
export const readTimeoutMs = 30_000;
/** The same while the server closes, and the time left for requests to arrive. */
const drainIdleTimeoutMs = 1000;
/** Interval in milliseconds for probing whether a half-closed client still reads. */
const probeEveryMs = 250;
/** Interval in milliseconds for looking at requests and answers. */
const sampleIntervalMs = 100;
/** Connections on which nothing happens are looked at by turns, each after so many intervals. */
const restingTurns = 10;

/** Reserves memory for the answer to a request, see `DisconnectSignal.hold`. */
export type HoldMemory = (request: IncomingMessage, bytes: number) => boolean;

/** Where proxies of this machine come from, for many clients. Other loopback addresses are counted as any. */
const local: ReadonlySet<string> = new Set(['127.0.0.1', '::1']);

/** Node's internal field: the response the socket is writing; its request may still be arriving. */
interface HttpSocket extends Socket {
  readonly _httpMessage?: ServerResponse | null;
}

/** What one client has sent and not read. */
class Client {
  readonly #socket: HttpSocket;
  readonly #addressOf: ClientAddress;
  #request: IncomingMessage | null = null;
  /** Of the socket's `bytesRead`: at the last look, and where the request began, at the latest. */
  #lookedAt = 0;
  #start = 0;
  /** Reserved for the answer that is being made. */
  #heldBytes = 0;
  /** What it had at the last look, and what was reserved since. */
  bytes = 0;
  /** Nothing has happened between the last two looks, nothing waits to be read, and nothing is expected. */
  isResting = false;
  /** Whose memory it is: the network of the last request. Behind a trusted proxy, that of the proxy's client. */
  network = '';

  constructor(socket: HttpSocket, addressOf: ClientAddress) {
    this.#socket = socket;
    this.#addressOf = addressOf;
  }

  /** Counts the bytes of the request that is worked on, and of its answer. @returns How many more there are. */
  look(): number {
    const { bytesRead, writableLength, _httpMessage } = this.#socket;
    const request = _httpMessage?.req ?? null;
    const before = this.bytes;
    const isSame = request === this.#request && bytesRead === this.#lookedAt;
    if (request !== this.#request) this.#begin(request);
    this.#lookedAt = bytesRead;
    const answer = _httpMessage?.headersSent ? writableLength : writableLength + this.#heldBytes;
    this.bytes = answer + (request === null ? 0 : bytesRead - this.#start);
    // A body may arrive at any time, and other requests tell.
    this.isResting = isSame && writableLength === 0 && request?.complete !== false;
    return this.bytes - before;
  }

  #begin(request: IncomingMessage | null): void {
    this.#start = this.#lookedAt;
    this.#request = request;
    this.#heldBytes = 0;
    if (request !== null) this.network = networkOf(this.#addressOf(request) ?? '');
  }

  /** Reserves memory for the answer to the request. @returns The bytes beyond those reserved before. */
  hold(request: IncomingMessage, bytes: number): number {
    if (request !== this.#request) this.#begin(request);
    const more = bytes - this.#heldBytes;
    this.#heldBytes = bytes;
    this.bytes += more;
    return more;
  }

  get isClosed(): boolean {
    return this.#socket.destroyed;
  }

  /** @returns The bytes that it had. They count again at the next look, as long as it is not gone. */
  close(): number {
    this.#socket.destroy();
    const had = this.bytes;
    this.bytes = 0;
    return had;
  }
}

class Connections {
  readonly #server: Server;
  readonly #config: ConnectionLimits;
  readonly #isExempt: (address: string) => boolean;
  readonly #addressOf: ClientAddress;
  readonly #maxBytes: number;
  /** What all clients had at the last look at each, and what was reserved since. */
  #bufferedBytes = 0;
  readonly #open = new Map<HttpSocket, Client>();
  /** Looked at each time. */
  readonly #active = new Set<Client>();
  /** The others, those first that were looked at longest ago. */
  readonly #resting = new Set<Client>();
  readonly #perNetwork = new Map<string, number>();
  /** Taken over by another protocol, which ends them. */
  readonly #upgraded = new WeakSet<Socket>();
  #isClosing = false;

  constructor(server: Server, config: ConnectionLimits, addressOf: ClientAddress) {
    this.#config = config;
    this.#server = server;
    this.#addressOf = addressOf;
    this.#maxBytes = bufferedLimit(config);
    const isTrusted = createTrust(config);
    this.#isExempt = (address) => local.has(address) || isTrusted(address);
  }

  /** False: its network has too many connections already. */
  add(socket: HttpSocket): boolean {
    const address = parseAddress(socket.remoteAddress);
    const network = address === null || this.#isExempt(address) ? null : networkOf(address);
    const count = network === null ? 0 : (this.#perNetwork.get(network) ?? 0);
    if (count >= this.#config.maxConnectionsPerAddress) return false;
    if (network !== null) this.#perNetwork.set(network, count + 1);
    const client = new Client(socket, this.#addressOf);
    this.#open.set(socket, client);
    this.#active.add(client);
    socket.once('close', () => {
      this.#open.delete(socket);
      this.#active.delete(client);
      this.#resting.delete(client);
      this.#bufferedBytes -= client.bytes;
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

  /** Handles a half-closed socket: a disconnect shows only on a write, so an interim response (102) is sent. */
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

  /** Reserves memory, see `HoldMemory`. Where all is taken, the network with most of it loses connections. */
  hold(request: IncomingMessage, bytes: number): { readonly isHeld: boolean; readonly closed: number } {
    const client = this.#open.get(request.socket);
    if (client === undefined) return { isHeld: false, closed: 0 };
    this.#wake(client);
    this.#bufferedBytes += client.hold(request, bytes);
    const closed = this.#closeLargest();
    return { isHeld: !client.isClosed, closed };
  }

  /** A request has arrived. */
  begin(socket: Socket): void {
    const client = this.#open.get(socket);
    if (client !== undefined) this.#wake(client);
  }

  #wake(client: Client): void {
    if (this.#resting.delete(client)) this.#active.add(client);
  }

  /** Looks at those on which something happens, and at some of the others. @returns The number of closed connections. */
  look(): number {
    const some = this.#resting.values().take(Math.ceil(this.#resting.size / restingTurns));
    for (const client of [...this.#active, ...some]) {
      this.#bufferedBytes += client.look();
      this.#resting.delete(client);
      if (client.isResting) this.#active.delete(client);
      (client.isResting ? this.#resting : this.#active).add(client);
    }
    return this.#closeLargest();
  }

  /**
   * Closes connections while what all clients have sent and not read exceeds the limit: of the network with most of it,
   * the one with most.
   *
   * @returns The number of closed ones.
   */
  #closeLargest(): number {
    if (this.#bufferedBytes <= this.#maxBytes) return 0;
    // The number is of several moments.
    for (const client of this.#open.values()) this.#bufferedBytes += client.look();
    const kept = new Set(this.#open.values());
    for (let closed = 0; ; closed += 1) {
      const networks = new Map<string, number>();
      for (const { network, bytes } of kept) networks.set(network, (networks.get(network) ?? 0) + bytes);
      if (sum(networks.values()) <= this.#maxBytes) return closed;
      const network = largest(networks);
      const client = largest(
        new Map([...kept].flatMap((each) => (each.network === network ? [[each, each.bytes]] : []))),
      );
      kept.delete(client);
      this.#bufferedBytes -= client.close();
    }
  }

  letGo(socket: Socket): void {
    this.#upgraded.add(socket);
  }

  /** On shutdown: closes connections whose clients neither send nor read. */
  closeIdleSoon(): void {
    this.#isClosing = true;
    const open = () => [...this.#open.keys()].filter((socket) => !this.#upgraded.has(socket));
    for (const socket of open()) socket.setTimeout(drainIdleTimeoutMs);
    const timer = setTimeout(() => {
      for (const socket of open()) if (socket._httpMessage?.req.complete !== true) socket.destroy();
    }, drainIdleTimeoutMs);
    this.#server.once('close', () => clearTimeout(timer));
  }
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const each of numbers) total += each;
  return total;
}

/** The key with the largest number, the first of several. */
function largest<Key>(numbers: ReadonlyMap<Key, number>): Key {
  return [...numbers].reduce((most, each) => (each[1] > most[1] ? each : most))[0];
}

type ConnectionLimits = Parameters<typeof bufferedLimit>[0] &
  Pick<Config, 'maxConnections' | 'maxConnectionsPerAddress' | 'trustedProxies'>;

/** Applies the rules to a server whose timeout is `readTimeoutMs`. */
export function guardConnections(
  app: FastifyInstance,
  config: ConnectionLimits,
  { observe, addressOf }: { readonly observe: Observe; readonly addressOf: ClientAddress },
): HoldMemory {
  const { server } = app;
  const connections = new Connections(server, config, addressOf);
  const noteClosed = (count: number) => {
    if (count > 0) observe({ kind: 'connections_closed', count });
  };
  const noteRefused = reportCounts((count) => observe({ kind: 'connections_refused', count }));
  Object.defineProperty(server, 'maxConnections', { get: () => config.maxConnections });
  // Allow half-closed clients; the type declarations lack this option.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('drop', noteRefused);
  server.on('connection', (socket: Socket) => {
    if (connections.add(socket)) return;
    socket.destroy();
    noteRefused();
  });
  server.on('request', ({ socket }: IncomingMessage) => connections.begin(socket));
  server.on('upgrade', (_request, socket: Socket) => connections.letGo(socket));
  const timer = setInterval(() => noteClosed(connections.look()), sampleIntervalMs).unref();
  server.once('close', () => clearInterval(timer));
  server.on('timeout', (socket: Socket) => connections.handleTimeout(socket));
  app.addHook('preClose', (done) => {
    connections.closeIdleSoon();
    done();
  });
  return (request, bytes) => {
    const { isHeld, closed } = connections.hold(request, bytes);
    noteClosed(closed);
    return isHeld;
  };
}
