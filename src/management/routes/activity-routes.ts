/** The routes for what the gateway has done lately. They name roles and operations of clients, so they are for operators. */
import { readRequestFilter, recentRequests, requestFilters, usage } from '../../server/recent/recent-schemas.ts';
import { ManagementError } from '../management-error.ts';
import type { ManagementRoutes } from './management-route-table.ts';

/** The routes. */
export const activityRoutes: ManagementRoutes = {
  'GET /requests': {
    access: 'project:operate',
    id: 'listRequests',
    summary: 'List the last requests of this gateway, newest first, without any value',
    query: requestFilters,
    answer: recentRequests,
    refusals: ['validation_failed'],
    failure: 'activity_failed',
    run: ({ recent }, { query }) => recent.requests(readFilter(query as Readonly<Record<string, unknown>>)),
  },
  'GET /usage': {
    access: 'project:operate',
    id: 'readUsage',
    summary: 'Read what this gateway did in each of the last 60 minutes',
    answer: usage,
    failure: 'activity_failed',
    run: ({ recent }) => recent.usage(),
  },
};

function readFilter(query: Readonly<Record<string, unknown>>) {
  try {
    return readRequestFilter(query);
  } catch (error) {
    throw new ManagementError('validation_failed', (error as Error).message);
  }
}
