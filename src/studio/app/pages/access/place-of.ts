/** The address of a table on the page, with the filter and the role that are chosen. */
import type { AccessTable } from '../../../../management/access/access-schemas.ts';

/** @param table Null: none is chosen. */
export function placeOf(table: Pick<AccessTable, 'schema' | 'name'> | null, query: URLSearchParams): string {
  const path =
    table === null ? 'access' : `access/${encodeURIComponent(table.schema)}/${encodeURIComponent(table.name)}`;
  return query.size === 0 ? path : `${path}?${query}`;
}
