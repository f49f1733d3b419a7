/**
 * The proxy of `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`, for requests to other machines. Lower-case names count before
 * upper-case ones, as in curl. This machine itself is never reached through a proxy, as in Go.
 */
type Environment = Readonly<Record<string, string | undefined>>;

/** What Node's agents read. */
export type ProxyVariables = Readonly<Record<'http_proxy' | 'https_proxy' | 'no_proxy', string>>;

const ownNames = 'localhost,127.0.0.1,[::1]';

/** The variables as Node takes them, which ignores an address without `http://` and one that it does not know. */
export function proxyVariables(environment: Environment): ProxyVariables {
  const given = (name: string) => environment[name] || environment[name.toUpperCase()] || '';
  const excepted = given('no_proxy');
  return {
    http_proxy: addressOf(given('http_proxy')) ?? '',
    https_proxy: addressOf(given('https_proxy')) ?? '',
    // Node takes a star only alone.
    no_proxy: excepted.trim() === '*' ? '*' : `${excepted},${ownNames}`,
  };
}

/** The names of variables whose value is no HTTP proxy. */
export function unusableProxies(environment: Environment): readonly string[] {
  const names = ['http_proxy', 'https_proxy'].flatMap((name) => [name, name.toUpperCase()]);
  return names.filter((name) => addressOf(environment[name] ?? '') === null);
}

/** Null if it is no HTTP proxy. */
function addressOf(text: string): string | null {
  if (text === '') return '';
  const address = /^[a-z0-9+.-]+:\/\//i.test(text) ? text : `http://${text}`;
  return /^https?:$/.test(URL.parse(address)?.protocol ?? '') ? address : null;
}
