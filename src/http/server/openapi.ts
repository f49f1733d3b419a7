/**
 * Builds the OpenAPI 3.1 description of the HTTP API from the operations that the routes register.
 *
 * Schemas come from the rows that validate requests; nothing is described a second time here.
 */
import { STATUS_CODES } from 'node:http';
import type { JsonSchema } from '../../shared/json-schema.ts';

/** A parameter of the path, the query or the headers. */
export interface ApiParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description: string;
  readonly schema: JsonSchema;
}

/** What may be answered with one status. */
export interface ApiResponse {
  /** `default`: all that are not listed. */
  readonly status: number | 'default';
  /** The status's usual text where none is given. */
  readonly description?: string;
  /** Of the JSON body; absent: no body. */
  readonly schema?: JsonSchema;
  /** Descriptions of headers by name. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** One operation. */
export interface ApiOperation {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** With parameters in braces: `/v1/projects/{ref}/config/auth`. */
  readonly path: string;
  /** Unique; what generated clients call it. */
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  /** Names of `securitySchemes`, all of which are needed; empty: none is. */
  readonly security: readonly SecurityName[];
  readonly parameters?: readonly ApiParameter[];
  /** Of the JSON body. */
  readonly body?: JsonSchema;
  /** The body may be missing. */
  readonly isBodyOptional?: boolean;
  /** Of the body as browsers send forms, in place of a JSON body. */
  readonly form?: JsonSchema;
  readonly responses: readonly ApiResponse[];
}

/** Ways in which a caller shows who they are. */
export const securitySchemes = {
  accessToken: { type: 'http', scheme: 'bearer', description: 'An access token made by `pgreflect tokens create`.' },
  apiKey: { type: 'apiKey', in: 'header', name: 'apikey', description: 'The anon or the service key.' },
  serviceToken: { type: 'http', scheme: 'bearer', description: 'The service key, or a token with an admin role.' },
  userToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'The token of a user who signed in.' },
} as const;

/** Name of a scheme. */
export type SecurityName = keyof typeof securitySchemes;

/** What the document says of the whole. */
export interface ApiInfo {
  readonly version: string;
  /** Origin under which clients reach the API. */
  readonly serverUrl: string;
  /** Schemas that operations refer to as `#/components/schemas/NAME`. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
}

/** The document. */
export function buildOpenApi(operations: readonly ApiOperation[], info: ApiInfo): JsonSchema {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of operations) {
    paths[operation.path] ??= {};
    Object.assign(paths[operation.path] as object, { [operation.method]: describeOperation(operation) });
  }
  const used = new Set(operations.flatMap(({ security }) => security));
  const schemes = Object.entries(securitySchemes).filter(([name]) => used.has(name as SecurityName));
  return {
    openapi: '3.1.0',
    info: { title: 'pgreflect', version: info.version },
    servers: [{ url: info.serverUrl }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: { securitySchemes: Object.fromEntries(schemes), schemas: info.schemas },
  };
}

function describeOperation(operation: ApiOperation): JsonSchema {
  const { id, tag, summary, security, parameters = [], isBodyOptional = false, responses } = operation;
  const content = contentOf(operation);
  return {
    operationId: id,
    tags: [tag],
    summary,
    security: security.length === 0 ? [] : [Object.fromEntries(security.map((name) => [name, []]))],
    ...(parameters.length > 0 && { parameters }),
    ...(content !== undefined && { requestBody: { required: !isBodyOptional, content } }),
    responses: Object.fromEntries(responses.map((response) => [String(response.status), describeResponse(response)])),
  };
}

function describeResponse({ status, description, schema, headers }: ApiResponse): JsonSchema {
  const described = Object.entries(headers ?? {}).map(([name, text]) => [
    name,
    { description: text, schema: { type: 'string' } },
  ]);
  return {
    description: description ?? (status === 'default' ? 'A refusal.' : STATUS_CODES[status]) ?? 'Answer',
    ...(described.length > 0 && { headers: Object.fromEntries(described) }),
    ...(schema !== undefined && { content: json(schema) }),
  };
}

function contentOf({ body, form }: ApiOperation): JsonSchema | undefined {
  if (form !== undefined) return { 'application/x-www-form-urlencoded': { schema: form } };
  return body === undefined ? undefined : json(body);
}

function json(schema: JsonSchema): JsonSchema {
  return { 'application/json': { schema } };
}
