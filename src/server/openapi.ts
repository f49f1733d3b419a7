/**
 * `/openapi.json`, public: builds an OpenAPI 3.1 document from the descriptions of the parts. It has no list of routes
 * of its own.
 *
 * `@fastify/swagger` costs each start 52 ms of CPU and 15 MiB, and says of every body that it is required
 * (test/bench/tried.md).
 */
import { STATUS_CODES } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { JsonSchema } from '../shared/schema.ts';
import { version } from '../shared/version.ts';

const securitySchemes = {
  accessToken: { type: 'http', scheme: 'bearer', description: 'An access token made by `pgreflect tokens create`.' },
  apiKey: { type: 'apiKey', in: 'header', name: 'apikey', description: 'The anon or the service key.' },
  serviceToken: { type: 'http', scheme: 'bearer', description: 'The service key, or a token with an admin role.' },
  userToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'The token of a user who signed in.' },
} as const;

/** What a request shows of its caller. */
type SecurityScheme = keyof typeof securitySchemes;

/** One operation. */
export interface ApiOperation {
  readonly method: string;
  /** With parameters in braces: `/v1/projects/{ref}/config/auth`. */
  readonly path: string;
  /** Unique; its name in generated clients. */
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  /** All of them are required; empty: none. */
  /** One of these sets is needed; empty: nothing. */
  readonly security: readonly (readonly SecurityScheme[])[];
  /** Parameters, body and responses, as OpenAPI has them. */
  readonly more: { readonly responses: JsonSchema; readonly parameters?: unknown; readonly requestBody?: JsonSchema };
}

/** The description of one part's routes. */
export interface ApiDescription {
  readonly operations: readonly ApiOperation[];
  /** Schemas that operations refer to as `#/components/schemas/NAME`. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
}

function json(schema: JsonSchema): JsonSchema {
  return { content: { 'application/json': { schema } } };
}

/** A response by its status. @param headers Their descriptions by name. */
export function response(
  status: number | 'default',
  schema: JsonSchema | null,
  headers: Readonly<Record<string, string>> = {},
  description = status === 'default' ? 'A refusal.' : STATUS_CODES[status],
): JsonSchema {
  const schemaOf = (text: string) => ({ description: text, schema: { type: 'string' } });
  const described = Object.entries(headers).map(([name, text]) => [name, schemaOf(text)]);
  const more = described.length > 0 && { headers: Object.fromEntries(described) };
  return { [status]: { description, ...more, ...(schema !== null && json(schema)) } };
}

/** Makes the description of a part. */
export type Describe = () => ApiDescription;

/** Adds the route. The first request builds the document. @param serverUrl The origin that clients use. */
export function registerOpenApi(app: FastifyInstance, serverUrl: string, parts: readonly Describe[]): void {
  let text: string | null = null;
  app.get('/openapi.json', (_request, reply) => {
    text ??= printDocument(
      serverUrl,
      parts.map((describe) => describe()),
    );
    return reply.type('application/json; charset=utf-8').send(text);
  });
}

function printDocument(serverUrl: string, descriptions: readonly ApiDescription[]): string {
  const operations = descriptions.flatMap((part) => part.operations);
  const paths: Record<string, JsonSchema> = {};
  for (const { method, path, id, tag, summary, security, more } of operations) {
    const needed = security.map((names) => Object.fromEntries(names.map((name) => [name, []])));
    const operation = { operationId: id, tags: [tag], summary, security: needed, ...more };
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation };
  }
  return JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'pgreflect', version },
    servers: [{ url: serverUrl }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: { securitySchemes, schemas: Object.assign({}, ...descriptions.map(({ schemas }) => schemas)) },
  });
}
