/** The current page: the part of the address after `/studio/`. */
import { createStore, useStore } from './store.ts';
import { mayLeave } from './unsaved.ts';

const base = '/studio';

const place = createStore(location.pathname + location.search);
addEventListener('popstate', () => {
  const next = location.pathname + location.search;
  if (mayLeave(place.get(), next)) place.set(next);
  else history.pushState(null, '', place.get());
});

/** The current place: `/studio/emails/recovery?x=1` is `['emails', 'recovery']` and `x=1`. */
interface Place {
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
}

/** Hook: the current place. */
export function usePlace(): Place {
  const url = new URL(useStore(place), location.origin);
  const segments = url.pathname
    .slice(base.length)
    .split('/')
    .filter((segment) => segment !== '');
  return { segments: segments.map(decode), query: url.searchParams };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    // Malformed percent-encoding: keep the text.
    return segment;
  }
}

/** The address of a page: `emails/recovery`. */
export function addressOf(path: string): string {
  return path === '' ? base : `${base}/${path}`;
}

/**
 * Goes to another page. Asks first if unsaved input would be lost, unless the caller knows that it is not.
 *
 * @returns Whether it did.
 */
export function goTo(path: string, { replace = false, asks = true } = {}): boolean {
  const address = addressOf(path);
  if (asks && !mayLeave(place.get(), address)) return false;
  // A link to where one is adds no step to go back.
  if (replace || address === place.get()) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  place.set(address);
  return true;
}
