/**
 * The auth service for `/openapi.json`, from the rows that its routes are made of. The members of bodies are not described
 * here: the flows check them one by one.
 */
import { ignoreObservations } from '../shared/observation.ts';
import { adminRoutes } from './auth-admin-routes.ts';
import { authPath } from './auth-parts.ts';
import type { AuthRow } from './auth-rows.ts';
import { createUserRoutes } from './auth-user-routes.ts';
import { type ApiOperation, schemaNamed } from './openapi.ts';
import type { ApiDescription } from './openapi-route.ts';

/** Operations and schemas. */
export function describeAuth(): ApiDescription {
  const user = createUserRoutes(ignoreObservations).map((row) => describeRow(row, 'Auth'));
  const admin = adminRoutes.map((row) => describeRow(row, 'Auth administration'));
  return { operations: [...user, ...admin], schemas: { AuthError: errorSchema } };
}

const errorSchema = {
  type: 'object',
  description: 'With the header x-supabase-api-version from 2024-01-01 on `code` is the word, before it the status.',
  properties: {
    code: { type: ['string', 'integer'] },
    message: { type: 'string' },
    error_code: { type: 'string' },
    msg: { type: 'string' },
  },
};

function describeRow({ method, path, access }: AuthRow, tag: string): ApiOperation {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '');
  const takesBody = method === 'POST' || method === 'PUT';
  return {
    method: method.toLowerCase() as ApiOperation['method'],
    path: `${authPath}${path.replace(/:(\w+)/g, '{$1}')}`,
    id: `${method.toLowerCase()}${path.replace(/[/:_]+(\w)/g, (_, letter: string) => letter.toUpperCase())}`,
    tag,
    summary: `${method} ${path}`,
    security: access === 'key' ? ['apiKey'] : [],
    parameters: names.map((name) => ({
      name,
      in: 'path',
      required: true,
      description: 'Id.',
      schema: { type: 'string' },
    })),
    ...(takesBody && { body: { type: 'object' } }),
    responses: [
      { status: 200, description: 'Done.' },
      { status: 400, schema: schemaNamed('AuthError') },
    ],
  };
}
