/** Names and addresses of this machine: traffic to them does not cross a network. */

/** Accepts a name or an address; an IPv6 address also in brackets. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  return name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^127(\.\d{1,3}){3}$/.test(name);
}

/** The same for a header `Host`, with a port or without: names that others may point at this machine are no such names. */
export function isLoopbackHost(header: string | undefined): boolean {
  return isLoopback((header ?? '').replace(/:\d+$/, ''));
}
