/** Parses connection strings as the driver does: for messages, and to make the strings of other roles. */
import { isLoopback } from '../shared/loopback.ts';

/**
 * A connection string as a URL; null if it is not one. If it has credentials but no host, which PostgreSQL allows and
 * URLs do not, the host becomes `localhost`; a parameter that names a socket takes precedence.
 */
export function parseConnectionUrl(text: string): URL | null {
  return URL.parse(text) ?? URL.parse(text.replace(/^([^:]+:\/\/[^/?#]*@)\//, '$1localhost/'));
}

/** The string with changed parts; null if it is not a connection string. */
export function changeConnectionUrl(text: string, change: (url: URL) => void): string | null {
  const url = parseConnectionUrl(text);
  if (url === null) return null;
  const hasHost = Boolean(URL.parse(text)?.hostname);
  // A URL without a host cannot have credentials.
  if (!hasHost) url.hostname = 'localhost';
  change(url);
  return hasHost ? url.href : url.href.replace(/^([^/]*\/\/[^/?#]*)localhost/, '$1');
}

/** A connection string that may be shown: the password is replaced. */
export function withoutPassword(connectionString: string): string {
  const shown = changeConnectionUrl(connectionString, (url) => {
    if (url.password !== '') url.password = 'PASSWORD';
    if (url.searchParams.has('password')) url.searchParams.set('password', 'PASSWORD');
  });
  return shown ?? 'postgresql://...';
}

const sslModes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

/**
 * Why a connection string is unusable, as the rest of a sentence that quotes nothing of it; null if usable. A special
 * character in a password can make the rest of it look like a host, database or parameter.
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
 * The string for the driver, with `sslmode` as in libpq: `require` encrypts and checks no certificate unless an
 * authority is named; `verify-full` checks certificate and host. By default, the driver treats all as `verify-full` and
 * prints a warning. Without any TLS setting, TLS is preferred, except for this machine.
 */
export function forDriver(text: string): string {
  const url = parseConnectionUrl(text);
  if (url === null || url.searchParams.has('uselibpqcompat')) return text;
  if (url.searchParams.has('sslmode'))
    return `${text.replace(/([?&]sslmode=)allow\b/, '$1prefer')}&uselibpqcompat=true`;
  if (hasTlsSetting(url) || isLocalConnection(text, url)) return text;
  return `${text}${text.includes('?') ? '&' : '?'}sslmode=prefer&uselibpqcompat=true`;
}

/** The driver reads `PGSSLMODE` if the string has no mode, as it reads `PGHOST`. */
function hasTlsSetting({ searchParams }: URL): boolean {
  return Boolean(process.env.PGSSLMODE) || [...searchParams.keys()].some((name) => name.startsWith('ssl'));
}

function isLocalConnection(text: string, { searchParams }: URL): boolean {
  const named = searchParams.get('host') || decodePart(URL.parse(text)?.hostname ?? '');
  const host = named || process.env.PGHOST || 'localhost';
  return host.startsWith('/') || isLoopback(host);
}

/** Whether to connect without TLS if TLS is unavailable. */
export function prefersTls(driverText: string): boolean {
  return /[?&]sslmode=prefer\b/.test(driverText);
}

/** Encodes text as a part of such a URL; also safe between apostrophes. */
export function encodePart(text: string): string {
  return encodeURIComponent(text).replaceAll("'", '%27');
}

/** Decodes a part of such a URL; returns it unchanged if a percent sign encodes nothing. */
export function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The name of the database; null where the connection string leaves it to the login. */
export function databaseName(connectionString: string): string | null {
  const url = parseConnectionUrl(connectionString);
  return url === null ? null : decodePart(url.pathname.slice(1)) || null;
}
