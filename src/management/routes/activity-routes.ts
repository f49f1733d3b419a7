/**
 * The routes for how the gateway is and what it has done lately. They name roles, tables and operations of clients, so they are
 * for operators.
 */
import { readRequestFilter, recentRequests, requestFilters, usage } from '../../server/recent/recent-schemas.ts';
import { checkReport, toReport } from '../check-report.ts';
import { ManagementError } from '../management-error.ts';
import { projectHealth, readHealth } from '../project-health.ts';
import type { ManagementRoutes } from './management-route-table.ts';

/** The routes. */
export const activityRoutes: ManagementRoutes = {
  'GET /health': {
    access: 'project:operate',
    id: 'readHealth',
    summary: 'Read whether all is well: database, schema, mail, versions, and what visitors and users see',
    answer: projectHealth,
    failure: 'activity_failed',
    run: ({ project, health }) => readHealth(project, health),
  },
  'GET /check': {
    access: 'project:operate',
    id: 'readCheck',
    summary:
      'Read what `pgreflect check` finds, the worst first; looked for once in ten minutes at most, and after a change of the schema',
    answer: checkReport,
    failure: 'check_failed',
    run: async ({ check }) => toReport(await check()),
  },
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
