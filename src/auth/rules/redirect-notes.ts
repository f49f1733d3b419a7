/**
 * Says in the log that a request asked for a redirect that is not allowed, and what can be done. The site URL takes its
 * place, and the answer does not tell. Each origin is named once, because anybody can send such requests.
 */
import type { Observe } from '../../shared/observation.ts';
import type { RedirectRefusal } from './redirect.ts';

/** Notes an address that is not allowed. */
export type NoteRedirect = (asked: string, refusal: RedirectRefusal) => void;

/** Most origins that are named by a process. */
const maxOrigins = 50;

/** Remembers what was named. */
export function createRedirectNotes(observe: Observe): NoteRedirect {
  const named = new Set<string>();
  return (asked, refusal) => {
    const origin = originOf(asked);
    if (origin === null || named.has(origin) || named.size >= maxOrigins) return;
    named.add(origin);
    const message = `A request asked for a redirect to ${origin}, which is not allowed: it leads to the site URL instead.`;
    observe({ kind: 'warning', message, hint: hints[refusal](origin) });
  };
}

const hints: Readonly<Record<RedirectRefusal, (origin: string) => string>> = {
  unlisted: (origin) => `If this address is yours, add ${patternOf(origin)} to --uri-allow-list.`,
  'ip-address': () =>
    'IP addresses other than loopback are never allowed, even if they are listed. Use a host name, such as my-laptop.local or that of a tunnel, and add it to --uri-allow-list.',
  ambiguous: () =>
    'Browsers and servers may read this address differently, so it is not allowed even if it is listed. Use a plain one: a host name of ASCII letters, digits, dots and dashes, and no encoded dot segments.',
  script: () => 'Addresses of this scheme run in the page that links to them: they are never allowed.',
};

/** A pattern for a web server allows its paths, a pattern for another scheme all its addresses. */
function patternOf(origin: string): string {
  return /^https?:/.test(origin) ? `${origin}/**` : `${origin.replace(/(?<=:\/\/).*/s, '')}**`;
}

/** Without path, query and credentials; null for text that is better not printed. */
function originOf(asked: string): string | null {
  const url = URL.parse(asked);
  if (url === null) return null;
  const isHierarchical = url.href.startsWith(`${url.protocol}//`);
  const origin = isHierarchical ? `${url.protocol}//${url.host}` : url.protocol;
  return /^[\w.:/[\]+-]{1,200}$/.test(origin) ? origin : null;
}
