/** What spans say of a database server: where it is, and never who logs in. */

import { databaseName, decodePart, parseConnectionUrl } from '../config/connection-url.ts';
import type { SpanFacts } from '../shared/trace/span.ts';
import type { Login } from './wire/login.ts';

/** By the semantic conventions of OpenTelemetry. */
export function serverFacts(given: string | Login): SpanFacts {
  const connectionString = typeof given === 'string' ? given : given.text;
  const url = parseConnectionUrl(connectionString);
  if (url === null) return {};
  const { hostname, port, searchParams } = url;
  return {
    'server.address': searchParams.get('host') || decodePart(hostname) || 'localhost',
    'server.port': Number(port || searchParams.get('port') || 5432),
    'db.namespace': databaseName(connectionString) ?? undefined,
  };
}
