/**
 * The parts of a connection string, as the driver reads them: for messages, and for the strings of other roles.
 */
import { isThisMachine } from '../shared/this-machine.ts';

/**
 * A connection string as a URL; null where it is none. With credentials but without a host, which PostgreSQL allows and URLs do not,
 * its host is `localhost`; a parameter that names a socket goes before that.
 */
export function parseConnectionUrl(text: string): URL | null {
  return URL.parse(text) ?? URL.parse(text.replace(/^([^:]+:\/\/[^/?#]*@)\//, '$1localhost/'));
}

/** The string with some of its parts changed; null where it is none. */
export function changeConnectionUrl(text: string, change: (url: URL) => void): string | null {
  const url = parseConnectionUrl(text);
  if (url === null) return null;
  const hasHost = Boolean(URL.parse(text)?.hostname);
  // One without a host takes no credentials.
  if (!hasHost) url.hostname = 'localhost';
  change(url);
  return hasHost ? url.href : url.href.replace(/^([^/]*\/\/[^/?#]*)localhost/, '$1');
}

const sslModes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

/**
 * Why a connection string cannot be used, as the rest of a sentence that shows nothing of it; null: it can. A character of a password
 * that ends this part of a URL makes the rest of the password a host, a database or a parameter.
 */
export function connectionUrlProblem(text: string): string | null {
  const form = 'must look like postgresql://user:password@host:5432/database';
  if (!/^postgres(ql)?:\/\//.test(text)) return form;
  const url = parseConnectionUrl(text);
  const isCut =
    url === null
      ? text.includes('@')
      : text.includes('#') ||
        url.pathname.includes('@') ||
        [...url.searchParams.keys()].some((name) => /[@/]/.test(name));
  if (isCut)
    return 'has a character in its user or password that must be written in another way: %40 for @, %23 for #, %2F for /, %3F for ?, %25 for %';
  const mode = url?.searchParams.get('sslmode') ?? null;
  if (mode !== null && !sslModes.includes(mode))
    return `has an unknown sslmode; use one of ${sslModes.slice(0, -1).join(', ')}`;
  return url === null ? form : null;
}

/**
 * The string for the driver, with `sslmode` as libpq means it: `require` encrypts and checks no certificate unless one of an authority
 * is named, `verify-full` checks certificate and host. Left to itself, the driver takes all for `verify-full` and prints a warning.
 * Where nothing is said about TLS, it is preferred, except on the way to this machine.
 */
export function forDriver(text: string): string {
  const url = parseConnectionUrl(text);
  if (url === null || url.searchParams.has('uselibpqcompat')) return text;
  if (url.searchParams.has('sslmode'))
    return `${text.replace(/([?&]sslmode=)allow\b/, '$1prefer')}&uselibpqcompat=true`;
  if (saysSomethingOfTls(url) || staysOnThisMachine(text, url)) return text;
  return `${text}${text.includes('?') ? '&' : '?'}sslmode=prefer&uselibpqcompat=true`;
}

/** The driver reads the variable where the string names no mode, as it reads `PGHOST`. */
function saysSomethingOfTls({ searchParams }: URL): boolean {
  return Boolean(process.env.PGSSLMODE) || [...searchParams.keys()].some((name) => name.startsWith('ssl'));
}

function staysOnThisMachine(text: string, { searchParams }: URL): boolean {
  const named = searchParams.get('host') || decodePart(URL.parse(text)?.hostname ?? '');
  const host = named || process.env.PGHOST || 'localhost';
  return host.startsWith('/') || isThisMachine(host);
}

/** Whether TLS that cannot be had is done without. */
export function prefersTls(driverText: string): boolean {
  return /[?&]sslmode=prefer\b/.test(driverText);
}

/** Text as a part of such a URL; harmless between apostrophes, too. */
export function encodePart(text: string): string {
  return encodeURIComponent(text).replaceAll("'", '%27');
}

/** A part of such a URL as text; as it stands where a percent sign encodes nothing. */
export function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
