/**
 * The auth service for `/openapi.json`, from the rows that its routes are made of, the shapes that its bodies are read by and
 * the shapes that its answers are made by.
 */
import { errorSchema } from '../../auth/error-response.ts';
import { bodySchema } from '../../auth/steps/members.ts';
import { type JsonSchema, schemaNamed } from '../../shared/json-schema.ts';
import { ignoreObservations } from '../../shared/observation.ts';
import type { ApiOperation, ApiParameter, ApiResponse, SecurityName } from '../server/openapi.ts';
import type { ApiDescription } from '../server/openapi-route.ts';
import { authPath } from '../server/parts.ts';
import { adminRoutes } from './auth-admin-routes.ts';
import { type AuthDocument, authDocuments } from './auth-documents.ts';
import type { AuthRow } from './auth-rows.ts';
import { createUserRoutes } from './auth-user-routes.ts';

/** Operations and schemas. */
export function describeAuth(): ApiDescription {
  const rows = [...createUserRoutes(ignoreObservations), ...adminRoutes];
  const answers = [...rows.map(({ answer }) => answer), ...authDocuments.map(({ shape }) => shape)];
  const named = answers.flatMap((answer) => [...(answer?.named ?? [])]);
  return {
    operations: [...rows.map(describeRow), ...authDocuments.map(describeDocument)],
    schemas: { ...Object.fromEntries(named), AuthError: errorSchema },
  };
}

function describeDocument({ path, summary, shape }: AuthDocument): ApiOperation {
  return {
    method: 'get',
    path: `${authPath}${path}`,
    id: operationId('GET', path),
    tag: 'Auth',
    summary: `${summary}.`,
    security: [],
    responses: [{ status: 200, schema: shape.schema }],
  };
}

/** `GET`, `/admin/users/:id` -> `getAdminUsersId`. */
function operationId(method: string, path: string): string {
  return `${method.toLowerCase()}${path.replace(/[/:_.-]+(\w)/g, (_, letter: string) => letter.toUpperCase())}`;
}

function describeRow(row: AuthRow): ApiOperation {
  const { method, path, caller, summary, body, form, isBodyOptional = false } = row;
  return {
    method: method.toLowerCase() as ApiOperation['method'],
    path: `${authPath}${path.replace(/:(\w+)/g, '{$1}')}`,
    id: operationId(method, path),
    tag: caller === 'admin' ? 'Auth administration' : 'Auth',
    summary: `${summary}.`,
    security: securityOf(row),
    parameters: [...pathParameters(path), ...queryParameters(row)],
    ...(body !== undefined && { body: oneOfBodies(body.map(bodySchema)) }),
    ...(form !== undefined && { form: formSchema(form) }),
    isBodyOptional: isBodyOptional || form !== undefined,
    responses: [...successesOf(row), { status: 'default', schema: schemaNamed('AuthError') }],
  };
}

function securityOf({ access, caller }: AuthRow): readonly SecurityName[] {
  if (access === 'anyone') return [];
  if (caller === undefined) return ['apiKey'];
  return ['apiKey', caller === 'admin' ? 'serviceToken' : 'userToken'];
}

function pathParameters(path: string): readonly ApiParameter[] {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '');
  return names.map((name) => ({ name, in: 'path', required: true, description: 'Id.', schema: { type: 'string' } }));
}

function queryParameters({ query = {} }: AuthRow): readonly ApiParameter[] {
  return Object.entries(query).map(([name, description]) => ({
    name,
    in: 'query',
    required: false,
    description,
    schema: { type: 'string' },
  }));
}

function oneOfBodies(bodies: readonly JsonSchema[]): JsonSchema {
  const [only] = bodies;
  return only !== undefined && bodies.length === 1 ? only : { anyOf: bodies };
}

function formSchema(form: Readonly<Record<string, string>>): JsonSchema {
  const members = Object.entries(form).map(([name, description]) => [name, { type: 'string', description }]);
  return { type: 'object', properties: Object.fromEntries(members) };
}

function successesOf({ status = 200, redirects = [], answer }: AuthRow): readonly ApiResponse[] {
  const headers = { Location: 'Where the browser goes next, with what came of it.' };
  const onward = redirects.map((redirect) => ({ status: redirect, headers }));
  if (redirects.length > 0 && answer === null) return onward;
  return [{ status, ...(answer !== null && { schema: answer.schema }) }, ...onward];
}
