/**
 * The address a request comes from: the connection's, or behind trusted proxies (`--trusted-proxies`) the one they name.
 *
 * Every proxy appends the address that it was called from to `X-Forwarded-For`, so only the right end of that list is
 * written by somebody we trust; whatever stands further left may have been sent by the client itself.
 */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import type { Observe } from '../shared/observation.ts';

/** Finds the address of a request; null where the connection is gone. IPv4 in IPv6 notation is given as IPv4. */
export type ClientAddress = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string | null;

/**
 * @param trustedProxies Addresses and networks (`10.1.2.0/24`); none: the header is not believed.
 * @param observe Hears once that there seems to be a proxy of which nobody has told.
 */
export function createClientAddress(trustedProxies: readonly string[], observe: Observe = () => {}): ClientAddress {
  const ofConnection: ClientAddress = ({ socket }) => parseAddress(socket.remoteAddress ?? '');
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
  const trusted = toBlockList(trustedProxies);
  return (request) => {
    const connection = ofConnection(request);
    const header = request.headers['x-forwarded-for'];
    if (connection === null || header === undefined) return connection;
    return walk(trusted, connection, String(header));
  };
}

/** From the right, for as long as a trusted proxy speaks. What is no address ends the walk: its writer is the best known. */
function walk(trusted: BlockList, connection: string, header: string): string {
  let address = connection;
  for (const entry of header.split(',').reverse()) {
    const next = contains(trusted, address) ? parseAddress(entry) : null;
    if (next === null) return address;
    address = next;
  }
  return address;
}

/** One address, also as some proxies write it: with a port, in brackets. Null for everything else. */
export function parseAddress(text: string): string | null {
  const [, bracketed, withPort] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(text.trim()) ?? [];
  const plain = (bracketed ?? withPort ?? text.trim()).replace(/^::ffff:(?=[\d.]+$)/i, '');
  // A zone only means something on the machine that wrote it.
  return isIP(plain) === 0 || plain.includes('%') ? null : plain.toLowerCase();
}

/**
 * What requests are counted by: a customer has one IPv4 address, or an IPv6 network of 64 bits with more addresses than could ever
 * be counted one by one. Addresses with an IPv4 address in them are translated ones, each of another customer.
 */
export function networkOf(address: string): string {
  if (isIP(address) !== 6 || address.includes('.')) return address;
  const [start = [], end = []] = address.split('::').map((half) => half.split(':').filter((group) => group !== ''));
  const zeros = Array.from({ length: 8 - start.length - end.length }, () => '0');
  const groups = [...start, ...zeros, ...end].slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${groups.join(':')}::/64`;
}

/** Whom limits and queues take a request for: its user, or the network that one without a user comes from. */
export function countedAs(subject: string | null, address: string | null): string {
  return subject === null ? `address ${networkOf(address ?? '')}` : `user ${subject}`;
}

/** Whether an address is a trusted proxy's. */
export function createTrust(trustedProxies: readonly string[]): (address: string) => boolean {
  const trusted = toBlockList(trustedProxies);
  return (address) => contains(trusted, address);
}

/** Whether a connection is a trusted proxy's, by its address. */
export type IsFromProxy = (remoteAddress: string | undefined) => boolean;

/** Whose headers about the client are believed. */
export function createProxyTrust(trustedProxies: readonly string[]): IsFromProxy {
  const isTrusted = createTrust(trustedProxies);
  return (remoteAddress) => {
    const address = parseAddress(remoteAddress ?? '');
    return address !== null && isTrusted(address);
  };
}

function toBlockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    if (prefix === undefined) list.addAddress(address, familyOf(address));
    else list.addSubnet(address, Number(prefix), familyOf(address));
  }
  return list;
}

function contains(list: BlockList, address: string): boolean {
  return list.check(address, familyOf(address));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}
