/** The route for who may do what in the database: for operators, because it names what roles cannot see. */
import { accessOverview } from '../access/access-schemas.ts';
import type { ManagementRoutes } from './management-route-table.ts';

/** The routes. */
export const accessRoutes: ManagementRoutes = {
  'GET /access': {
    access: 'project:operate',
    id: 'readAccess',
    summary: 'Read what each role may do with each exposed table, the policies that decide, and functions',
    answer: accessOverview,
    failure: 'schema_unavailable',
    run: ({ readAccess }) => readAccess(),
  },
};
