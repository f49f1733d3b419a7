/** What a request is called: its operation, or its path. */
import type { RecentRequest } from '../../../../server/recent/recent-schemas.ts';

/** The name; its kind stands beside it. */
export function nameOf({ operation, operationType, method, path }: RecentRequest): string {
  if (operation === null && operationType === null) return `${method} ${path ?? 'unknown path'}`;
  return operation ?? 'Unnamed';
}
