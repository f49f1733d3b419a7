/** Addresses of the page Users: `users/ID?filter=ada&page=2`. */

/** The list's page and filter. */
export interface ListPlace {
  /** From 1. */
  readonly page: number;
  /** Part of an address or a name; empty: all. */
  readonly filter: string;
}

/** @param id Id of the shown user; null: none. */
export function placeOf({ page, filter }: ListPlace, id: string | null): string {
  const query = new URLSearchParams({ ...(filter !== '' && { filter }), ...(page > 1 && { page: String(page) }) });
  const path = id === null ? 'users' : `users/${encodeURIComponent(id)}`;
  return query.size === 0 ? path : `${path}?${query}`;
}

/** Parses the list's page and filter from an address; an invalid page is the first. */
export function readListPlace(query: URLSearchParams): ListPlace {
  const page = Number(query.get('page') ?? 1);
  return { page: Number.isInteger(page) && page > 0 ? page : 1, filter: query.get('filter') ?? '' };
}
