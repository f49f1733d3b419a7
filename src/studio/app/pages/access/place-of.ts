/** The address of a table on the page, with the filter and the role that are chosen. */
import type { AccessTable } from '../../../../management/access/access-schemas.ts';

/** @param table Null: none is chosen. */
export function placeOf(table: Pick<AccessTable, 'schema' | 'name'> | null, query: URLSearchParams): string {
  const path =
    table === null ? 'access' : `access/${encodeURIComponent(table.schema)}/${encodeURIComponent(table.name)}`;
  return query.size === 0 ? path : `${path}?${query}`;
}

/** The query with another value of a member; null: without it. */
export function withMember(query: URLSearchParams, name: 'q' | 'role' | 'view', value: string | null): URLSearchParams {
  const next = new URLSearchParams(query);
  if (value === null) next.delete(name);
  else next.set(name, value);
  return next;
}
