/**
 * The baseline: a bare node:http server that answers each case with hand-written SQL, in one round trip, without any
 * GraphQL. PostgreSQL makes the JSON.
 *
 * Environment: DATABASE_URL, POOL_SIZE.
 */
import { everyCase } from './cases.ts';
import { serveStatements } from './statement-server.ts';

const statements = everyCase.flatMap(({ name, operations }) =>
  operations.map(({ handwritten }, index) => [`${name} ${index}`, handwritten] as const),
);
serveStatements(new Map(statements), (text) => text);
