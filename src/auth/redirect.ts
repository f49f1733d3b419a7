/**
 * Decides where a link or a sign-in may redirect: to the site URL, to loopback addresses of its host, to the allow
 * list.
 *
 * An address that is not allowed is no error: the next candidate takes its place, at last the site URL. This file
 * parses the address itself and compares the result with the URL parser of browsers, because differences between
 * parsers are how redirects are abused.
 */
import { isIP } from 'node:net';
import type { AuthConfig } from '../config/auth/auth-config.ts';
import { compileUrlPattern, splitPatterns, type UrlPattern } from '../config/url-pattern.ts';

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

/** The rules of one configuration; create them once per configuration. */
export interface RedirectRules {
  /** The first allowed candidate, unchanged; otherwise the site URL. */
  resolve(candidates: RedirectCandidates): string;
  isAllowed(url: string): boolean;
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
}

/** Compiles the allow list. A malformed pattern, which validation refuses, allows nothing. */
export function createRedirectRules(config: RedirectConfig): RedirectRules {
  const patterns = splitPatterns(config.uri_allow_list).flatMap(compileOrSkip);
  const site = parseAddress(config.site_url);
  const isAllowed = (url: string) => site !== null && isAllowedAddress(url, site, patterns);
  return {
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

/** Never allowed, even if listed: such URLs run in the page that links to them. */
const refusedSchemes = ['javascript', 'data', 'vbscript'];

function isAllowedAddress(url: string, site: Address, patterns: readonly UrlPattern[]): boolean {
  const address = parseAddress(url);
  if (address === null || refusedSchemes.includes(address.scheme)) return false;
  const { scheme, host, port } = address;
  const isSameHost = scheme === site.scheme && host === site.host;
  if (isSameHost && (port === site.port || isLoopbackName(host))) return true;
  if (/^[0-9]+$/.test(host)) return false;
  if (isIP(host) !== 0) return isLoopbackIp(host);
  const isWeb = scheme === 'http' || scheme === 'https';
  if (isWeb && !/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(host)) return false;
  const text = url.split('#')[0] ?? '';
  return isWeb ? isWebListed(text, address, patterns) : patterns.some((pattern) => pattern.matches(text));
}

/**
 * A wildcard for a part of the host must not match beyond the host: text after `/` or `?` is not part of it, nor is
 * text before `@`. A pattern that spells out the whole authority has no such limit.
 */
function isWebListed(text: string, { scheme, authority }: Address, patterns: readonly UrlPattern[]): boolean {
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

const usualPorts: Readonly<Record<string, string>> = { http: '80', https: '443' };

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
  const isWeb = scheme in usualPorts;
  const seen = parsed.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  // Browsers read a host of digits as an IP address; a later check refuses it by its text.
  if (isWeb && (host === '' || (seen !== host && !/^[0-9]+$/.test(host)))) return null;
  return { scheme, host, port: port === usualPorts[scheme] ? '' : port, authority };
}
