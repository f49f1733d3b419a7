/** Addresses of pages that others lead to. */

/** The table on the page Access, with the filter and the role that are chosen. @param table Null: none is chosen. */
export function placeInAccess(
  table: { readonly schema: string; readonly name: string } | null,
  query: URLSearchParams,
): string {
  const path =
    table === null ? 'access' : `access/${encodeURIComponent(table.schema)}/${encodeURIComponent(table.name)}`;
  return query.size === 0 ? path : `${path}?${query}`;
}

/** The table on the page Schema. @param table Null: the list, with the table that most others are related to. */
export function placeInSchema(role: string, table: string | null): string {
  const page = table === null ? 'schema' : `schema/${encodeURIComponent(table)}`;
  return `${page}?${new URLSearchParams({ role })}`;
}

/** What the role does not see, on the page Schema. */
export function hiddenPlaceOf(role: string): string {
  return `${placeInSchema(role, null)}&view=hidden`;
}
