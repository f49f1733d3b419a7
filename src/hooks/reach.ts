/**
 * Which machines the auth service calls in the name of its configuration: hooks, providers and the mail server.
 *
 * What the start values name is the operator's choice and may be anywhere. What the management API has stored may not lead
 * into private networks: whoever may change the configuration of a project must not reach the machines beside the gateway.
 * A name is resolved once, and the connection goes to the address that was looked at.
 */
import { type LookupOptions, lookup as lookUp } from 'node:dns';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import { createUnzip } from 'node:zlib';
import ipaddr from 'ipaddr.js';
import { type AuthConfig, type AuthValues, layerAuthConfig } from '../config/auth/auth-config.ts';

/** Decides it. */
export interface Reach {
  /** What fetches from an address of the configuration, and from those that its server names; follows no redirect. */
  fetchFor(address: string): typeof fetch;
  /** What to connect to for a host: itself, or its address that was looked at. @throws Error where it is private. */
  resolve(host: string, port: number): Promise<string>;
}

/** The part of IPv6 in which public addresses are; the rest is not given to anybody. */
const global6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Protocols under test, and addresses of them. */
const reserved6 = ipaddr.IPv6.parseCIDR('2001::/23');

/** Whether an address is one that everybody can reach. */
function isPublic(text: string): boolean {
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || (address.match(global6) && !address.match(reserved6));
}

/** Connections are used again, unless they have waited for longer than servers usually keep them; milliseconds. */
const kept = { keepAlive: true, timeout: 4000 };

/** Some APIs refuse requests without. */
const usualHeaders = { accept: '*/*', 'user-agent': 'pgreflect' };

/** @param start The start values of the moment; null: it goes anywhere. */
export function createReach(start: (() => AuthValues) | null): Reach {
  let known: { readonly start: AuthValues; readonly places: ReadonlySet<string> } | null = null;
  const isOpen = (place: string | null): boolean => {
    if (start === null) return true;
    const now = start();
    if (known?.start !== now) known = { start: now, places: placesOf(layerAuthConfig(now)) };
    return place !== null && known.places.has(place);
  };
  const [open, guarded] = [createFetch(null), createFetch(publicLookup)];
  return {
    fetchFor: (address) => (isOpen(placeOf(address)) ? open : guarded),
    async resolve(host, port) {
      if (isOpen(`${host.toLowerCase()}:${port}`)) return host;
      return new Promise((resolve, reject) =>
        publicLookup(host, {}, (error, address) => (error === null ? resolve(String(address)) : reject(error))),
      );
    },
  };
}

/** Goes anywhere. */
export const openReach: Reach = createReach(null);

/** `fetch` whose connections go where `lookup` says, which is asked for each; null: where the system says. */
function createFetch(lookup: LookupFunction | null): typeof fetch {
  const agents = { http: new HttpAgent(kept), https: new HttpsAgent(kept) };
  return async (input, init) => {
    const request = new Request(input, init);
    const { protocol, hostname } = new URL(request.url);
    const literal = hostname.replace(/^\[(.*)\]$/, '$1');
    // Nobody looks up what is an address.
    if (lookup !== null && isIP(literal) !== 0 && !isPublic(literal)) throw refusal(hostname);
    const [send, agent] = protocol === 'https:' ? [httpsRequest, agents.https] : [httpRequest, agents.http];
    const { method, signal } = request;
    const headers = { ...usualHeaders, ...Object.fromEntries(request.headers), 'accept-encoding': 'identity' };
    const body = Buffer.from(await request.arrayBuffer());
    const options = { agent, method, signal, headers, ...(lookup !== null && { lookup }) };
    return new Promise((resolve, reject) => {
      const sent = send(request.url, options, (answer) => resolve(toResponse(answer)));
      sent.on('error', (error) => reject(signal.aborted ? signal.reason : error));
      sent.end(body.length === 0 ? undefined : body);
    });
  };
}

/** One private address among several is enough: the next connection might go there. */
function publicLookup(host: string, options: LookupOptions, callback: Parameters<LookupFunction>[2]): void {
  lookUp(host, { ...options, all: true }, (error, found) => {
    const [first] = found ?? [];
    if (error || first === undefined) return callback(error ?? refusal(host), '');
    if (!found.every(({ address }) => isPublic(address))) return callback(refusal(host), '');
    return options.all ? callback(null, found) : callback(null, first.address, first.family);
  });
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
  const body = isPacked ? answer.pipe(createUnzip()).on('close', () => answer.destroy()) : answer;
  const stream = Readable.toWeb(body) as ReadableStream<Uint8Array>;
  return new Response(isEmpty ? null : stream, { status, statusText, headers: entries as [string, string][] });
}

/** Hosts and ports that the fields with addresses name. */
function placesOf(config: AuthConfig): ReadonlySet<string> {
  const places = new Set([`${config.smtp_host?.toLowerCase()}:${config.smtp_port}`]);
  for (const [name, value] of Object.entries(config)) {
    if (!/^(hook|external|sms)_.*_ur[il]$|^external_allowed_id_token_issuers$/.test(name)) continue;
    for (const part of String(value ?? '').split(/[\s,]+/)) places.add(placeOf(part) ?? '');
  }
  return places;
}

function placeOf(address: string): string | null {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  return `${url.hostname}:${url.port || (url.protocol === 'https:' ? '443' : '80')}`;
}
