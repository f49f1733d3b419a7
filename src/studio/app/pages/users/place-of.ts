/** Addresses of the page Users: `users/ID?search=ada&state=banned&tab=sessions`. */

/** What the list shows; empty: all. */
export interface ListPlace {
  readonly search: string;
  readonly state: string;
  readonly provider: string;
  /** As the API takes it: `created_at.desc`. */
  readonly order: string;
}

/** The parts of a user's panel. */
export const userTabs = [
  { name: 'account', title: 'Account' },
  { name: 'sign-in', title: 'Sign-in' },
  { name: 'sessions', title: 'Sessions' },
  { name: 'emails', title: 'Emails' },
  { name: 'audit', title: 'Audit' },
  { name: 'metadata', title: 'Metadata' },
] as const;

/** One of them. */
export type UserTab = (typeof userTabs)[number]['name'];

/** The order without one in the address. */
export const usualOrder = 'created_at.desc';

/** @param id Id of the shown user; null: none. */
export function placeOf({ search, state, provider, order }: ListPlace, id: string | null, tab?: UserTab): string {
  const given = { search, state, provider, order: order === usualOrder ? '' : order, tab: tab ?? '' };
  const query = new URLSearchParams(Object.entries(given).filter(([, value]) => value !== '' && value !== 'account'));
  const path = id === null ? 'users' : `users/${encodeURIComponent(id)}`;
  return query.size === 0 ? path : `${path}?${query}`;
}

/** What an address says of the list. */
export function readListPlace(query: URLSearchParams): ListPlace {
  const of = (name: string) => query.get(name) ?? '';
  return { search: of('search'), state: of('state'), provider: of('provider'), order: of('order') || usualOrder };
}

/** The part that an address names; the first otherwise. */
export function readTab(query: URLSearchParams): UserTab {
  return userTabs.find(({ name }) => name === query.get('tab'))?.name ?? 'account';
}
