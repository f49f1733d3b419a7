/**
 * `/openapi.json`: the description of every operation that the server's routes registered. No key is needed for it.
 */
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import type { JsonSchema } from '../shared/json-schema.ts';
import { type ApiOperation, buildOpenApi } from './openapi.ts';

/** What the routes of one part describe. */
export interface ApiDescription {
  readonly operations: readonly ApiOperation[];
  readonly schemas: Readonly<Record<string, JsonSchema>>;
}

/** Adds the route. */
export function registerOpenApi(
  app: FastifyInstance,
  serverUrl: string,
  descriptions: readonly ApiDescription[],
): void {
  const operations = descriptions.flatMap((part) => part.operations);
  const schemas = Object.assign({}, ...descriptions.map((part) => part.schemas)) as ApiDescription['schemas'];
  const text = JSON.stringify(buildOpenApi(operations, { version: readVersion(), serverUrl, schemas }));
  app.get('/openapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(text));
}

/** The package's own file lies at the same distance from the source and from the compiled code. */
function readVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
