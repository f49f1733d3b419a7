/** Pages of other origins: browsers ask nobody before they open a WebSocket or an event stream for one. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Config } from '../../config/config.ts';

/** Whether a browser sends this for a page of an origin that is not allowed. */
export function isForeignPage(headers: IncomingHttpHeaders, origins: Config['corsOrigins']): boolean {
  const { origin, host, 'sec-fetch-mode': mode } = headers;
  if (origins === '*') return false;
  // Whose page it is, is not said then.
  if (origin === undefined) return mode === 'no-cors';
  if (origins.includes(origin)) return false;
  return !URL.canParse(origin) || new URL(origin).host !== host;
}
