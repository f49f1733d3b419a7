/**
 * The client address of a request: the connection's, or behind trusted proxies (`--trusted-proxies`) the one they
 * report. Calls `@fastify/proxy-addr` itself, because connections are limited before there is a request of the framework.
 *
 * Every proxy appends its client's address to `X-Forwarded-For`, so only the right end of the list is trustworthy.
 * Entries further left may be forged by the client.
 */
import type { IncomingMessage } from 'node:http';
import { isIP, isIPv4, isIPv6 } from 'node:net';
import { all } from '@fastify/proxy-addr';
import ipaddr from 'ipaddr.js';
import type { Config } from '../../config/config.ts';
import { madeOf } from '../../shared/made-of.ts';
import type { Observe } from '../../shared/observation.ts';

/** Returns the address of a request; null if the connection is closed. IPv4-mapped IPv6 is returned as IPv4. */
export type ClientAddress = (request: IncomingMessage) => string | null;

/** The addresses and networks (`10.1.2.0/24`) of proxies; they may be replaced. Empty: ignore the header. */
type TrustOptions = Pick<Config, 'trustedProxies'>;

/** @param observe Called once if there seems to be a proxy that is not configured. */
export function createClientAddress(options: TrustOptions, observe: Observe = () => {}): ClientAddress {
  const present = madeOf(
    () => options.trustedProxies,
    (proxies) => clientAddressBehind(proxies, observe),
  );
  return (request) => present()(request);
}

function clientAddressBehind(trustedProxies: readonly string[], observe: Observe): ClientAddress {
  const ofConnection: ClientAddress = ({ socket }) => parseAddress(socket.remoteAddress);
  if (trustedProxies.length === 0) {
    let isWarned = false;
    return (request) => {
      const address = ofConnection(request);
      if (!isWarned && request.headers['x-forwarded-for'] !== undefined) {
        isWarned = true;
        const message =
          'A request has the header X-Forwarded-For, which is ignored: all clients behind its address share its limits.';
        const hint = 'If that address is your proxy, set --trusted-proxies to it.';
        observe({ kind: 'warning', message, hint, address });
      }
      return address;
    };
  }
  const isTrusted = trustOf(trustedProxies);
  // An invalid address ends the search: the last valid one is the best known.
  return (request) =>
    all(request, isTrusted)
      .map(parseAddress)
      .findLast((address) => address !== null) ?? null;
}

/** Parses an address, also with a port or in brackets, as some proxies write it. Null for other text. */
export function parseAddress(text = ''): string | null {
  if (isIPv4(text)) return text;
  const [, bracketed, withPort] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(text.trim()) ?? [];
  const plain = (bracketed ?? withPort ?? text.trim()).replace(/^::ffff:(?=[\d.]+$)/i, '');
  // A zone has a meaning only on its own machine.
  if (isIP(plain) === 0 || plain.includes('%')) return null;
  return isIPv6(plain) ? ipaddr.process(plain).toString() : plain;
}

/** IPv6 networks that embed IPv4 addresses: each address belongs to a different client. */
const translated: readonly string[] = ['rfc6052', 'rfc6145'];

/** The key for counting: an IPv4 address, or the /64 network of an IPv6 address, all of which one customer has. */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const parsed = ipaddr.IPv6.parse(address);
  if (translated.includes(parsed.range())) return address;
  return `${new ipaddr.IPv6([...parsed.parts.slice(0, 4), 0, 0, 0, 0])}/64`;
}

/** The key for limits and queues: the user, or without one the client's network. */
export function countedAs(subject: string | null, address: string | null): string {
  return subject === null ? `address ${networkOf(address ?? '')}` : `user ${subject}`;
}

/** Whether an address is a trusted proxy's. */
export type IsTrusted = (address: string | undefined) => boolean;

/** Follows the present option. */
export function createTrust(options: TrustOptions): IsTrusted {
  const present = madeOf(() => options.trustedProxies, trustOf);
  return (address) => present()(address);
}

function trustOf(trustedProxies: readonly string[]): IsTrusted {
  const trusted = trustedProxies.map((network) =>
    ipaddr.parseCIDR(network.includes('/') ? network : `${network}/${isIPv6(network) ? 128 : 32}`),
  );
  return (text) => {
    const address = parseAddress(text);
    return address !== null && ipaddr.subnetMatch(ipaddr.parse(address), { trusted }, 'others') === 'trusted';
  };
}
