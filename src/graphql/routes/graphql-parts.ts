/** What the routes of the GraphQL API are built from. */
import type { HttpParts } from '../../server/parts.ts';
import type { Tracer } from '../../shared/trace/span.ts';
import type { Executor } from '../execute/executor.ts';
import type { LiveQueries } from '../live/live-queries.ts';

/** The parts; all live as long as the server. */
export interface GraphqlParts extends HttpParts {
  readonly executor: Executor;
  readonly live: Pick<LiveQueries, 'subscribe'>;
  /** Default: nothing is recorded. */
  readonly tracer?: Tracer;
}
