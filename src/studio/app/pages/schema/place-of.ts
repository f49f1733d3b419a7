/** Addresses of the page Schema: `schema/Product?role=anon`. */

/** @param table Null: the list, with the table that most others are related to. */
export function placeOf(role: string, table: string | null): string {
  const page = table === null ? 'schema' : `schema/${encodeURIComponent(table)}`;
  return `${page}?${new URLSearchParams({ role })}`;
}

/** What the role does not see. */
export function hiddenPlaceOf(role: string): string {
  return `${placeOf(role, null)}&view=hidden`;
}
