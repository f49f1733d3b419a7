/**
 * `/openapi.json`: the description of every operation that the server's routes registered. No key is needed for it.
 */
import type { FastifyInstance } from 'fastify';
import type { JsonSchema } from '../../shared/json-schema.ts';
import { version } from '../../shared/version.ts';
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
  const text = JSON.stringify(buildOpenApi(operations, { version, serverUrl, schemas }));
  app.get('/openapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(text));
}
