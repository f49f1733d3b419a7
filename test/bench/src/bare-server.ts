/**
 * The bare server: node:http, the rows of each case in one round trip under the caller's role, thrown away, and always the same answer. What
 * PostgreSQL, the driver and HTTP cost where nobody makes JSON of anything.
 *
 * Environment: DATABASE_URL, POOL_SIZE. Requests are those of the baseline.
 */
import { serveStatements } from './statement-server.ts';

serveStatements(
  ({ bare }) => bare ?? '',
  () => '{}',
);
