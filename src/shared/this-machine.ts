/**
 * Names and addresses that lead to the machine itself: what goes there passes nobody who could read it.
 */

/** Of a name or an address; an address of IPv6 also in brackets. */
export function isThisMachine(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  return name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^127(\.\d{1,3}){3}$/.test(name);
}
