/**
 * The parts of a connection string, as the driver reads them: for messages, and for the strings of other roles.
 */

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
