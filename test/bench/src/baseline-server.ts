/**
 * The baseline: a bare node:http server that answers each case with hand-written SQL, in one round trip, without any
 * GraphQL. PostgreSQL makes the JSON.
 *
 * Environment: DATABASE_URL, POOL_SIZE.
 */
import { serveStatements } from './statement-server.ts';

serveStatements(
  ({ handwritten }) => handwritten,
  (text) => text,
);
