/** Addresses of the page Schema: `schema/Product?role=anon`. */

/** @param table Null: the overview. */
export function placeOf(role: string, table: string | null): string {
  const page = table === null ? 'schema' : `schema/${encodeURIComponent(table)}`;
  return `${page}?${new URLSearchParams({ role })}`;
}
