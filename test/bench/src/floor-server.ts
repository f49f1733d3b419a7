/**
 * The floor: a bare node:http server that answers each case with the best SQL written by hand, in one flight, without any
 * GraphQL. What a gateway costs is the distance to this.
 *
 * Environment: DATABASE_URL, POOL_SIZE.
 */
import { cases } from './cases.ts';
import { serveStatements } from './statement-server.ts';

const statements = cases.flatMap(({ name, operations }) =>
  operations.map(({ handwritten }, index) => [`${name} ${index}`, handwritten] as const),
);
serveStatements(new Map(statements), (text) => text);
