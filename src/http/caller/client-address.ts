/**
 * The address a request comes from: the connection's, or behind trusted proxies (`--trusted-proxies`) the one they name.
 *
 * Every proxy appends the address that it was called from to `X-Forwarded-For`, so only the right end of that list is
 * written by somebody we trust; whatever stands further left may have been sent by the client itself.
 */
import type { IncomingMessage } from 'node:http';
import { isIP, isIPv6 } from 'node:net';
import { all } from '@fastify/proxy-addr';
import ipaddr from 'ipaddr.js';
import type { Observe } from '../../shared/observation.ts';

/** Finds the address of a request; null where the connection is gone. IPv4 in IPv6 notation is given as IPv4. */
export type ClientAddress = (request: IncomingMessage) => string | null;

/**
 * @param trustedProxies Addresses and networks (`10.1.2.0/24`); none: the header is not believed.
 * @param observe Hears once that there seems to be a proxy of which nobody has told.
 */
export function createClientAddress(trustedProxies: readonly string[], observe: Observe = () => {}): ClientAddress {
  const ofConnection: ClientAddress = ({ socket }) => parseAddress(socket.remoteAddress);
  if (trustedProxies.length === 0) {
    let isWarned = false;
    return (request) => {
      const address = ofConnection(request);
      if (!isWarned && request.headers['x-forwarded-for'] !== undefined) {
        isWarned = true;
        const message = `A request from ${address} has the header X-Forwarded-For, which is ignored: all clients behind that address share its limits.`;
        const hint = `If ${address} is your proxy, set --trusted-proxies to its address.`;
        observe({ kind: 'warning', message, hint });
      }
      return address;
    };
  }
  const isTrusted = createTrust(trustedProxies);
  // What is no address is no proxy either: its writer is the best known.
  return (request) =>
    all(request, isTrusted)
      .map(parseAddress)
      .findLast((address) => address !== null) ?? null;
}

/** One address, also as some proxies write it: with a port, in brackets. Null for everything else. */
export function parseAddress(text = ''): string | null {
  const [, bracketed, withPort] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(text.trim()) ?? [];
  const plain = (bracketed ?? withPort ?? text.trim()).replace(/^::ffff:(?=[\d.]+$)/i, '');
  // A zone only means something on the machine that wrote it.
  if (isIP(plain) === 0 || plain.includes('%')) return null;
  return isIPv6(plain) ? ipaddr.process(plain).toString() : plain;
}

/** Networks in which an address stands for one of IPv4: each address is another customer's. */
const translated: readonly string[] = ['rfc6052', 'rfc6145'];

/**
 * What requests are counted by: a customer has one IPv4 address, or an IPv6 network of 64 bits with more addresses than could ever
 * be counted one by one.
 */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const parsed = ipaddr.IPv6.parse(address);
  if (translated.includes(parsed.range())) return address;
  return `${new ipaddr.IPv6([...parsed.parts.slice(0, 4), 0, 0, 0, 0])}/64`;
}

/** Whom limits and queues take a request for: its user, or the network that one without a user comes from. */
export function countedAs(subject: string | null, address: string | null): string {
  return subject === null ? `address ${networkOf(address ?? '')}` : `user ${subject}`;
}

/** Whether an address is a trusted proxy's. */
export type IsTrusted = (address: string | undefined) => boolean;

/** @param trustedProxies Addresses and networks, see `parseNetworks`. */
export function createTrust(trustedProxies: readonly string[]): IsTrusted {
  const trusted = trustedProxies.map((network) =>
    ipaddr.parseCIDR(network.includes('/') ? network : `${network}/${isIPv6(network) ? 128 : 32}`),
  );
  return (text) => {
    const address = parseAddress(text);
    return address !== null && ipaddr.subnetMatch(ipaddr.parse(address), { trusted }, 'others') === 'trusted';
  };
}
