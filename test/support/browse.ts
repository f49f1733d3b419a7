/**
 * A browser without pages: follows redirects from place to place with cookies, until one leads where it may not go.
 */

/** Where it was sent in the end. */
export interface LastStop {
  /** Of the answer that sent it there. */
  readonly status: number;
  readonly location: URL;
}

const maxSteps = 20;

/** @param isHere Whether an address is one to open; the first that is not is the end. */
export async function browse(
  start: string,
  isHere: (url: URL) => boolean,
  cookies: Map<string, string> = new Map(),
): Promise<LastStop> {
  let url = new URL(start);
  for (let step = 0; step < maxSteps; step += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } });
    for (const line of response.headers.getSetCookie()) keep(cookies, line);
    const location = response.headers.get('location');
    if (location === null) throw new Error(`${url.origin}${url.pathname}: ${response.status} ${await response.text()}`);
    url = new URL(location, url);
    if (!isHere(url)) return { status: response.status, location: url };
  }
  throw new Error('The redirects do not end.');
}

function keep(cookies: Map<string, string>, line: string): void {
  const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
  if (value === '') cookies.delete(name);
  else cookies.set(name, value);
}
