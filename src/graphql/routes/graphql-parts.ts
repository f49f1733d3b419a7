/** What the routes of the GraphQL API are built from. */
import type { HttpParts } from '../../server/parts.ts';
import type { Executor } from '../execute/executor.ts';

/** The parts; all live as long as the server. */
export interface GraphqlParts extends HttpParts {
  readonly executor: Executor;
}
