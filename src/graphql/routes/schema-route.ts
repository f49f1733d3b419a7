/**
 * GET `/graphql/v1/schema.graphql`: the schema of a role as SDL, for code generators that reach no database.
 *
 * For the service key, or an access token with the scope `project:read`: the schema tells what a role may use, also where
 * introspection is off.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { countedAs } from '../../server/caller/client-address.ts';
import { requestErrors } from '../../server/error-body.ts';
import { type ApiDescription, response } from '../../server/openapi.ts';
import type { HttpParts } from '../../server/parts.ts';
import { graphqlPath } from '../../server/paths.ts';
import { describeRoutes, type RouteFacts, type RouteTable, routesOf } from '../../server/route.ts';
import { accessTokenPrefix, readBearerToken } from '../../shared/bearer-token.ts';
import { PublicError } from '../../shared/errors.ts';

/** What the route needs. */
export interface SchemaParts {
  /** The SDL of a role; null: there is no such role. @throws DatabaseError */
  readonly printSchema: (role: string) => Promise<string | null>;
  /** Whether an access token may read schemas; null: there are no access tokens. @param from The client's network. */
  readonly mayRead: ((token: string, from: string) => Promise<boolean>) | null;
}

const routes = {
  'GET /schema.graphql': {
    access: 'project:read',
    id: 'printRoleSchema',
    summary: 'Read the GraphQL schema of a role as SDL; also with the service key',
    query: { role: 'Database role; by default the anon role.' },
    answer: null,
    page: { type: 'application/graphql', description: 'The schema in the schema definition language.' },
  },
} as const satisfies RouteTable<'GET', RouteFacts>;

/** Describes the route for `/openapi.json`. */
export function describeSchemaRoute(): ApiDescription {
  const refusals = response('default', requestErrors.json);
  return describeRoutes(routesOf<RouteTable<'GET', RouteFacts>>(routes), {
    prefix: graphqlPath,
    tagOf: () => 'GraphQL',
    refusalsOf: () => refusals,
    error: requestErrors,
  });
}

/** Adds the route. */
export function registerSchemaRoute(
  app: FastifyInstance,
  parts: HttpParts,
  { printSchema, mayRead }: SchemaParts,
): void {
  app.get(`${graphqlPath}/schema.graphql`, async (request, reply) => {
    await assertMayRead(request, parts, mayRead);
    const role = readRole(request, parts);
    const text = await printSchema(role);
    if (text === null) throw new PublicError('NOT_FOUND', `The role "${role.slice(0, 63)}" does not exist.`);
    request.state.bytes = Buffer.byteLength(text);
    return reply.type('application/graphql; charset=utf-8').send(text);
  });
}

async function assertMayRead(
  { headers, state }: FastifyRequest,
  { authenticate, config }: HttpParts,
  mayRead: SchemaParts['mayRead'],
): Promise<void> {
  const token = readBearerToken(headers.authorization);
  if (token?.startsWith(accessTokenPrefix) && mayRead !== null) {
    if (await mayRead(token, countedAs(null, state.address))) return;
    const hint = 'Create one with: pgreflect tokens create --scope project:read';
    throw new PublicError('UNAUTHENTICATED', 'The access token is not valid, or lacks the scope "project:read".', {
      hint,
    });
  }
  state.identity = await authenticate(headers);
  if (state.identity.role === config.serviceRole) return;
  const hint = 'Send the service key in the header apikey, or an access token as Authorization: Bearer TOKEN.';
  throw new PublicError('ROLE_NOT_ALLOWED', 'The schema of a role is for the service key alone.', { hint });
}

function readRole({ query }: FastifyRequest, { config: { allowedRoles, anonRole } }: HttpParts): string {
  const { role = anonRole } = query as { readonly role?: unknown };
  if (typeof role === 'string' && role !== '' && (allowedRoles === '*' || allowedRoles.includes(role))) return role;
  throw new PublicError('BAD_REQUEST', 'The parameter "role" must be one of the roles that requests may have.');
}
