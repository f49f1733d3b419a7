/**
 * Decides where a link or a sign-in may redirect: to the site URL, to web servers on loopback addresses, to the allow
 * list.
 *
 * An address that is not allowed is no error: the next candidate takes its place, at last the site URL. This file
 * parses the address itself and compares the result with the URL parser of browsers, because differences between
 * parsers are how redirects are abused.
 */
import { isIP } from 'node:net';
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import { compileUrlPattern, splitPatterns, type UrlPattern } from '../../config/url-pattern.ts';

type RedirectConfig = Pick<AuthConfig, 'site_url' | 'uri_allow_list'>;

/** Candidates of a request; empty and undefined are absent. */
interface RedirectCandidates {
  /** Request header `redirect_to`. It overrides the parameter even if it is not allowed. */
  readonly header?: string | undefined;
  /** Parameter `redirect_to` of the query. */
  readonly query?: string | undefined;
  /** Header `Referer`. */
  readonly referer?: string | undefined;
}

/**
 * Why an address is not allowed: an IP address other than loopback, a scheme that runs in the page, an address that
 * programs read differently, or one that the allow list lacks.
 */
export type RedirectRefusal = 'ip-address' | 'script' | 'ambiguous' | 'unlisted';

/** The rules of one configuration; create them once per configuration. */
export interface RedirectRules {
  /** The first allowed candidate, unchanged; otherwise the site URL. */
  resolve(candidates: RedirectCandidates): string;
  isAllowed(url: string): boolean;
  /** Null for an address that is allowed. */
  refusal(url: string): RedirectRefusal | null;
}

interface Address {
  /** Lower case, without the colon. */
  readonly scheme: string;
  /** Lower case, without brackets; empty for none. */
  readonly host: string;
  /** Empty for the scheme's default port. */
  readonly port: string;
  /** Includes user info, if any, as written. */
  readonly authority: string;
  /** The address without its fragment and with its dot segments resolved; for the rest as written. */
  readonly text: string;
}

/** Compiles the allow list. A malformed pattern, which validation refuses, allows nothing. */
export function createRedirectRules(config: RedirectConfig): RedirectRules {
  const patterns = splitPatterns(config.uri_allow_list).flatMap(compileOrSkip);
  const site = parseAddress(config.site_url);
  const refusal = (url: string) => (site === null ? 'unlisted' : findRefusal(url, site, patterns));
  const isAllowed = (url: string) => refusal(url) === null;
  return {
    refusal,
    isAllowed,
    resolve({ header, query, referer }) {
      const found = [header || query, referer].find((url) => url !== undefined && isAllowed(url));
      return found ?? config.site_url;
    },
  };
}

function compileOrSkip(pattern: string): readonly UrlPattern[] {
  try {
    return [compileUrlPattern(pattern)];
  } catch {
    return [];
  }
}

/** Dot segments beside encoded slashes: browsers leave them as they are, some servers resolve them. */
const hiddenDots = /^[^?]*(?:\/|%2f|%5c)(?:\.|%2e){1,2}(?:%2f|%5c|\/|\?|$)/i;

/** Never allowed, even if listed: such URLs run in the page that links to them. */
const refusedSchemes = ['javascript', 'data', 'vbscript'];

function findRefusal(url: string, site: Address, patterns: readonly UrlPattern[]): RedirectRefusal | null {
  const address = parseAddress(url);
  if (address === null) return 'ambiguous';
  const { scheme, host, port, text } = address;
  if (refusedSchemes.includes(scheme)) return 'script';
  const isSameHost = scheme === site.scheme && host === site.host;
  if (isSameHost && (port === site.port || isLoopbackName(host))) return null;
  const isWeb = scheme in defaultPorts;
  if (/^[0-9]+$/.test(host)) return 'ip-address';
  if (isIP(host) !== 0) {
    if (!isLoopbackIp(host)) return 'ip-address';
    // RFC 8252, 7.3. Any application of a device may claim another scheme, so that has to be listed.
    if (isWeb) return null;
  }
  if (isWeb && !/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(host)) return 'ambiguous';
  if (hiddenDots.test(text)) return 'ambiguous';
  const isListed = isWeb ? isWebListed(address, patterns) : patterns.some((pattern) => pattern.matches(text));
  if (isListed) return null;
  return isWeb && address.authority.includes('@') ? 'ambiguous' : 'unlisted';
}

/**
 * A wildcard for a part of the host must not match beyond the host: text after `/` or `?` is not part of it, nor is
 * text before `@`. A pattern that spells out the whole authority has no such limit.
 */
function isWebListed({ scheme, authority, text }: Address, patterns: readonly UrlPattern[]): boolean {
  const authorityEnd = `${scheme}://${authority}`.length;
  // Browsers read `?` after the authority as `/?`.
  const plain = text.slice(authorityEnd).replace(/^\?/, '/?');
  const isNamed = (pattern: UrlPattern) => pattern.fixedLength >= authorityEnd && pattern.matches(text);
  const origin = text.slice(0, authorityEnd);
  const isMatched = (pattern: UrlPattern) =>
    !authority.includes('@') && pattern.matchesOrigin(origin) && pattern.matches(origin + plain);
  return patterns.some((pattern) => isNamed(pattern) || isMatched(pattern));
}

function isLoopbackName(host: string): boolean {
  return host.endsWith('.localhost') || ['localhost', '127.0.0.1', '::1', '0.0.0.0', '::'].includes(host);
}

function isLoopbackIp(host: string): boolean {
  return host === '::1' || /^127\./.test(host);
}

const defaultPorts: Readonly<Record<string, string>> = { http: '80', https: '443' };

/** Longest address that is checked, in characters. */
const maxLength = 16_384;

/** Null for text that is not an absolute address, or that parsers read differently. */
function parseAddress(url: string): Address | null {
  // Browsers drop control characters and turn backslashes into slashes.
  if (url.length > maxLength || /[\p{Cc}\\]/u.test(url)) return null;
  const match = /^([a-z][a-z0-9+.-]*):(?:\/\/([^/?#]*))?/i.exec(url);
  const parsed = URL.parse(url);
  if (match === null || parsed === null) return null;
  const scheme = (match[1] ?? '').toLowerCase();
  const authority = match[2] ?? '';
  const hostAndPort = authority.split('@').at(-1) ?? '';
  const [, bracketed, plain, port = ''] = /^(?:\[([^\]]*)\]|([^:]*))(?::([0-9]*))?$/.exec(hostAndPort) ?? [];
  const host = (bracketed ?? plain)?.toLowerCase();
  if (host === undefined) return null;
  const isWeb = scheme in defaultPorts;
  const seen = parsed.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  // Browsers read a host of digits as an IP address; a later check refuses it by its text.
  if (isWeb && (host === '' || (seen !== host && !/^[0-9]+$/.test(host)))) return null;
  const text = resolveDots(url, match[0].length, parsed.pathname);
  return { scheme, host, port: port === defaultPorts[scheme] ? '' : port, authority, text };
}

/** The address without its fragment, with the path that a browser makes of one with dot segments. */
function resolveDots(url: string, pathStart: number, resolved: string): string {
  const [written = ''] = url.split('#');
  const [path = ''] = written.slice(pathStart).split('?');
  const hasDots = path.split('/').some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment));
  return written.slice(0, pathStart) + (hasDots ? resolved : path) + written.slice(pathStart + path.length);
}
