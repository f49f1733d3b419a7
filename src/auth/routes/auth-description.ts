/**
 * Describes the auth service for `/openapi.json`: from its routes, the members of their bodies, and the serializers of
 * its answers.
 */

import { type ApiDescription, type ApiOperation, response } from '../../server/openapi.ts';
import { authPath } from '../../server/paths.ts';
import { type JsonSchema, parameter, schemaNamed } from '../../shared/json-schema.ts';
import { errorSchema } from '../answers/error-response.ts';
import { bodySchema } from '../steps/members.ts';
import { type AuthDocument, authDocuments } from './auth-documents.ts';
import { authRoutes } from './auth-route.ts';
import type { AuthRoute } from './auth-route-table.ts';
import { captchaMember } from './require-captcha.ts';

/** Operations and schemas. */
export function describeAuth(): ApiDescription {
  const answers = [...authRoutes.map(({ answer }) => answer), ...authDocuments.map(({ serializer }) => serializer)];
  const named = answers.flatMap((answer) => [...(answer?.named ?? [])]);
  return {
    operations: [...authRoutes.map(describeRoute), ...authDocuments.map(describeDocument)],
    schemas: { ...Object.fromEntries(named), AuthError: errorSchema },
  };
}

function describeDocument({ path, summary, serializer }: AuthDocument): ApiOperation {
  return {
    method: 'get',
    path: `${authPath}${path}`,
    id: operationId('GET', path),
    tag: 'Auth',
    summary: `${summary}.`,
    security: [],
    more: { responses: response(200, serializer.schema) },
  };
}

/** `GET`, `/admin/users/:id` -> `getAdminUsersId`. */
function operationId(method: string, path: string): string {
  return `${method.toLowerCase()}${path.replace(/[/:_.-]+(\w)/g, (_, letter: string) => letter.toUpperCase())}`;
}

function describeRoute(route: AuthRoute): ApiOperation {
  const { method, path, caller, summary, body, isBodyOptional = false } = route;
  const taken = requestBody(route);
  const parameters = [...pathParameters(path), ...queryParameters(route)];
  return {
    method,
    path: `${authPath}${path.replace(/:(\w+)/g, '{$1}')}`,
    id: operationId(method, path),
    tag: caller === 'admin' ? 'Auth administration' : 'Auth',
    summary: `${summary}.`,
    security: securityOf(route),
    more: {
      ...(parameters.length > 0 && { parameters }),
      ...(taken !== null && { requestBody: { required: !isBodyOptional && body !== undefined, ...taken } }),
      responses: { ...successesOf(route), ...response('default', schemaNamed('AuthError')) },
    },
  };
}

function securityOf({ access, caller }: AuthRoute): ApiOperation['security'] {
  if (access === 'anyone') return [];
  if (caller === undefined) return ['apiKey'];
  return ['apiKey', caller === 'admin' ? 'serviceToken' : 'userToken'];
}

function pathParameters(path: string): readonly JsonSchema[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => parameter('path', name, 'Id.'));
}

function queryParameters({ query = {} }: AuthRoute): readonly JsonSchema[] {
  return Object.entries(query).map(([name, given]) => {
    const { description, required = false, schema = {} } = typeof given === 'string' ? { description: given } : given;
    return { name, in: 'query', required, description, schema: { type: 'string', ...schema } };
  });
}

function bodySchemas({ body = [], captcha }: AuthRoute): readonly JsonSchema[] {
  const schemas = body.map(bodySchema);
  if (captcha === undefined) return schemas;
  return schemas.map(({ properties, ...schema }) => ({
    ...schema,
    properties: { ...(properties as JsonSchema), ...captchaMember },
  }));
}

function oneOfBodies(bodies: readonly JsonSchema[]): JsonSchema {
  const [only] = bodies;
  return only !== undefined && bodies.length === 1 ? only : { anyOf: bodies };
}

function requestBody(route: AuthRoute): { readonly content: JsonSchema } | null {
  const { body, form } = route;
  const content = {
    ...(body !== undefined && { 'application/json': { schema: oneOfBodies(bodySchemas(route)) } }),
    ...(form !== undefined && formContent(form)),
  };
  return Object.keys(content).length === 0 ? null : { content };
}

function formContent(form: Readonly<Record<string, string>>): JsonSchema {
  const members = Object.entries(form).map(([name, description]) => [name, { type: 'string', description }]);
  const schema = { type: 'object', properties: Object.fromEntries(members) };
  return { 'application/x-www-form-urlencoded': { schema } };
}

function successesOf({ status = 200, redirects = [], answer, page }: AuthRoute): JsonSchema {
  const headers = { Location: 'Where the browser goes next, with what came of it.' };
  const isAlwaysSentOn = redirects.length > 0 && answer === null;
  return {
    ...(page !== undefined && { 200: { description: page, content: { 'text/html': { schema: { type: 'string' } } } } }),
    ...(!isAlwaysSentOn && response(status, answer?.schema ?? null)),
    ...Object.assign({}, ...redirects.map((redirect) => response(redirect, null, headers))),
  };
}
