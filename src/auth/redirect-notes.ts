/**
 * Says in the log that a request asked for a redirect that is not allowed. The site URL takes its place, and the answer
 * does not tell. Each origin is named once, because anybody can send such requests.
 */
import type { Observe } from '../shared/observation.ts';

/** Notes an address that is not allowed. */
export type NoteRedirect = (asked: string) => void;

/** Most origins that are named by a process. */
const maxOrigins = 50;

/** Remembers what was named. */
export function createRedirectNotes(observe: Observe): NoteRedirect {
  const named = new Set<string>();
  return (asked) => {
    const origin = originOf(asked);
    if (origin === null || named.has(origin) || named.size >= maxOrigins) return;
    named.add(origin);
    const message = `A request asked for a redirect to ${origin}, which is not allowed: it leads to the site URL instead.`;
    observe({ kind: 'warning', message, hint: `If this address is yours, add ${origin}/** to --uri-allow-list.` });
  };
}

/** Without path, query and credentials; null for text that is better not printed. */
function originOf(asked: string): string | null {
  const url = URL.parse(asked);
  if (url === null) return null;
  const origin = url.origin === 'null' ? `${url.protocol}/` : url.origin;
  return /^[\w.:/[\]+-]{1,200}$/.test(origin) ? origin : null;
}
