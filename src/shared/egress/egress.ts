/**
 * Which hosts the auth service may call for its configuration: hooks, providers and the mail server.
 *
 * Hosts in the start values are the operator's choice and may be anywhere. Values stored by the management API must not
 * lead into private networks: a person who may change the configuration must not reach machines beside the gateway. A
 * name is resolved once, and the connection uses the checked address. Behind a proxy of `HTTP_PROXY` or `HTTPS_PROXY`, the proxy resolves
 * names: what resolves to a private address here is refused all the same.
 */
import { type LookupOptions, lookup as lookUp } from 'node:dns';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { createUnzip } from 'node:zlib';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { currentSpan, inSpan } from '../trace/current-span.ts';
import type { SpanEnd } from '../trace/span.ts';
import { traceHeaders } from '../trace/trace-context.ts';
import { type ProxyVariables, proxyVariables } from './proxy.ts';

/** Checks and opens connections to other machines. */
export interface Egress {
  /** A `fetch` for an address of the configuration and addresses that its server returns; follows no redirect. */
  fetchFor(address: string): typeof fetch;
  /** The address to connect to for a host: the host itself, or its checked address. @throws Error if it is private. */
  resolve(host: string, port: number): Promise<string>;
}

/** The range of public IPv6 addresses; the rest is unassigned. */
const global6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Reserved for protocols. */
const reserved6 = ipaddr.IPv6.parseCIDR('2001::/23');

/** Whether an IP address is public. */
export function isPublic(text: string): boolean {
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || (address.match(global6) && !address.match(reserved6));
}

/** Connections are reused, unless idle for longer than servers usually keep them; milliseconds. */
const kept = { keepAlive: true, timeout: 4000 };

/** Some APIs refuse requests without these. */
const defaultHeaders = { accept: '*/*', 'user-agent': 'pgreflect' };

/**
 * @param hosts Returns the hosts that may be private, as `host:port`; null: no restriction.
 * @param environment Has the variables of proxies.
 */
export function createEgress(hosts: (() => ReadonlySet<string>) | null, environment = process.env): Egress {
  const isOpen = (host: string | null): boolean => hosts === null || (host !== null && hosts().has(host));
  const proxy = proxyVariables(environment);
  const [open, guarded] = [createFetch(null, proxy), createFetch(publicLookup, proxy)];
  return {
    fetchFor: (address) => (isOpen(hostOf(address)) ? open : guarded),
    async resolve(host, port) {
      if (isOpen(`${host.toLowerCase()}:${port}`)) return host;
      return new Promise((resolve, reject) =>
        publicLookup(host, {}, (error, address) => (error === null ? resolve(String(address)) : reject(error))),
      );
    },
  };
}

/** No restriction. */
export const unrestrictedEgress: Egress = createEgress(null);

/** A `fetch` for addresses that only the operator names. Follows no redirect. */
export const openFetch: typeof fetch = unrestrictedEgress.fetchFor('');

/** A `fetch` that connects to the result of `lookup`, called per connection without a proxy; null: the system's look-up. */
function createFetch(lookup: LookupFunction | null, proxy: ProxyVariables): typeof fetch {
  const options = { ...kept, proxyEnv: proxy };
  const agents = { http: new HttpAgent(options), https: new HttpsAgent(options) };
  const hasProxy = proxy.http_proxy !== '' || proxy.https_proxy !== '';
  return async (input, init) => {
    const request = new Request(input, init);
    const { protocol, hostname, port } = new URL(request.url);
    const literal = hostname.replace(/^\[(.*)\]$/, '$1');
    // An IP address is never passed to `lookup`.
    if (lookup !== null && isIP(literal) !== 0 && !isPublic(literal)) throw refusal(hostname);
    if (lookup !== null && hasProxy) await refusePrivate(hostname);
    const [send, agent] = protocol === 'https:' ? [httpsRequest, agents.https] : [httpRequest, agents.http];
    const { method, signal } = request;
    const given = { ...defaultHeaders, ...Object.fromEntries(request.headers), 'accept-encoding': 'identity' };
    const body = Buffer.from(await request.arrayBuffer());
    const call = () =>
      new Promise<Response>((resolve, reject) => {
        const headers = { ...given, ...outgoingHeaders() };
        const options = { agent, method, signal, headers, ...(lookup !== null && { lookup }) };
        const sent = send(request.url, options);
        sent.on('response', (answer) => {
          try {
            resolve(toResponse(answer));
          } catch (error) {
            // `Response` takes fewer statuses and reasons than the parser. Uncaught, the error would end the process.
            answer.destroy();
            reject(error);
          }
        });
        sent.on('upgrade', (_answer, socket) => {
          socket.destroy();
          reject(new Error('The server has changed the protocol.'));
        });
        sent.on('error', (error) => reject(signal.aborted ? signal.reason : error));
        sent.end(body.length === 0 ? undefined : body);
      });
    // Paths and queries may contain secrets.
    const facts = {
      'http.request.method': method,
      'server.address': literal,
      'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
    };
    return inSpan({ name: method, kind: 'client', facts, endOf: endOfAnswer }, call);
  };
}

function endOfAnswer({ status }: Response): SpanEnd {
  return { facts: { 'http.response.status_code': status }, error: status >= 400 ? String(status) : undefined };
}

/** The trace of the request that asks, and nothing else of it: what else came with it may be meant for us alone. */
function outgoingHeaders(): Readonly<Record<string, string>> {
  const outgoing = currentSpan()?.outgoing ?? null;
  return outgoing === null ? {} : traceHeaders(outgoing);
}

/** Refuse if any address is private: the next connection might use it. */
function publicLookup(host: string, options: LookupOptions, callback: Parameters<LookupFunction>[2]): void {
  lookUp(host, { ...options, all: true }, (error, found) => {
    const [first] = found ?? [];
    if (error || first === undefined) return callback(error ?? refusal(host), '');
    if (!found.every(({ address }) => isPublic(address))) return callback(refusal(host), '');
    return options.all ? callback(null, found) : callback(null, first.address, first.family);
  });
}

/** Whether hosts resolve to private addresses, as far as this machine knows. Each request through a proxy asks. */
const privateHosts = new LRUCache<string, Promise<boolean>>({ max: 1000, ttl: 60_000 });

/** How long a request through a proxy waits for that, in milliseconds: where only the proxy leaves the network, DNS may hang. */
const lookUpLimitMs = 1000;

/** For a host that a proxy connects to. Where only the proxy knows names, it decides. */
async function refusePrivate(host: string): Promise<void> {
  let isPrivate = privateHosts.get(host);
  if (isPrivate === undefined) {
    const found = new Promise<boolean>((resolve) => {
      publicLookup(host, {}, (error) => resolve(error?.code === 'EPRIVATE'));
    });
    void found.then((known) => privateHosts.set(host, Promise.resolve(known)));
    isPrivate = Promise.race([found, sleep(lookUpLimitMs, false, { ref: false })]);
    privateHosts.set(host, isPrivate);
  }
  if (await isPrivate) throw refusal(host);
}

function refusal(host: string): NodeJS.ErrnoException {
  const message = `${host} is in a private network. The start values may name it, or --allow-private-networks may be set.`;
  return Object.assign(new Error(message), { code: 'EPRIVATE' });
}

function toResponse(answer: IncomingMessage): Response {
  const { statusCode: status = 502, statusMessage: statusText = '', headers } = answer;
  const isPacked = ['gzip', 'deflate'].includes(headers['content-encoding'] ?? '');
  const entries = Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().map((one) => [name, one]));
  const isEmpty = [204, 205, 304].includes(status);
  if (isEmpty) answer.resume();
  // Passes errors on, which `pipe` does not: otherwise, the reader of a cut or aborted answer would wait for ever.
  const body = isPacked ? pipeline(answer, createUnzip(), () => {}) : answer;
  const stream = Readable.toWeb(body) as ReadableStream<Uint8Array>;
  return new Response(isEmpty ? null : stream, { status, statusText, headers: entries as [string, string][] });
}

/** `host:port` of an address; null if it is not one of the web. */
export function hostOf(address: string): string | null {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  return `${url.hostname}:${url.port || (url.protocol === 'https:' ? '443' : '80')}`;
}
