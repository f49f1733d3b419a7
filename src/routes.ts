/** All routes of the gateway, added to one server. The code of optional services is loaded only when they are added. */
import type { AuthParts } from './auth/routes/auth-parts.ts';
import { describedSchema } from './graphql/execute/describe-schema.ts';
import { describedRoleTable } from './graphql/execute/describe-table.ts';
import { explainedStatement } from './graphql/execute/explain-operation.ts';
import { EventStreams } from './graphql/routes/event-stream.ts';
import { registerGraphqlRoutes } from './graphql/routes/graphql-route.ts';
import { describeSchemaRoute, registerSchemaRoute, type SchemaParts } from './graphql/routes/schema-route.ts';
import type { ManagementParts } from './management/routes/management-parts.ts';
import type { HttpServer } from './server/create-http-server.ts';
import type { Describe } from './server/openapi.ts';
import type { HttpParts } from './server/parts.ts';
import { registerGraphiql } from './studio/routes/graphiql-route.ts';
import { allowStudioFiles } from './studio/routes/studio-pages.ts';
import type { OperationParts, PageParts } from './studio/routes/studio-parts.ts';

/** The parts of all routes. */
export interface RouteParts extends PageParts {
  /** The management API; absent if disabled. */
  readonly management?: ManagementParts;
  /** Absent: no schema can be read. */
  readonly schemas?: SchemaParts;
}

/** Adds the routes of every part that there is. @returns Their descriptions, for `/openapi.json`. */
export async function addRoutes(app: HttpServer, parts: RouteParts): Promise<readonly Describe[]> {
  const { auth, management, schemas } = parts;
  await allowStudioFiles(app);
  const page = registerGraphiql(app, parts);
  const streams = new EventStreams(parts);
  const described = [
    ...(auth ? [await addAuth(app, parts, auth)] : []),
    ...(management ? [await addManagement(app, parts, management)] : []),
    ...(parts.inbox || parts.studio ? [await addStudio(app, { ...parts, streams })] : []),
  ];
  registerGraphqlRoutes(app, parts, page, streams);
  if (schemas === undefined) return described;
  registerSchemaRoute(app, parts, schemas);
  return [describeSchemaRoute, ...described];
}

async function addStudio(app: HttpServer, parts: OperationParts): Promise<Describe> {
  const [{ registerStudio }, { describeStudio }, { studioRoutes }, { inboxRoutes }] = await Promise.all([
    import('./studio/routes/studio-route.ts'),
    import('./studio/routes/studio-description.ts'),
    import('./studio/routes/studio-route-table.ts'),
    import('./studio/routes/inbox-route.ts'),
  ]);
  registerStudio(app, parts);
  return () => describeStudio(...(parts.studio ? [studioRoutes] : []), ...(parts.inbox ? [inboxRoutes] : []));
}

async function addAuth(app: HttpServer, parts: HttpParts, auth: AuthParts): Promise<Describe> {
  const [{ registerAuth }, { describeAuth }] = await Promise.all([
    import('./auth/routes/auth-route.ts'),
    import('./auth/routes/auth-description.ts'),
  ]);
  await registerAuth(app, parts, auth);
  return describeAuth;
}

async function addManagement(app: HttpServer, { observe }: HttpParts, management: ManagementParts): Promise<Describe> {
  const [{ registerManagementRoutes }, { describeManagement }] = await Promise.all([
    import('./management/routes/management-route.ts'),
    import('./management/routes/management-description.ts'),
  ]);
  await registerManagementRoutes(app, management, observe);
  return () => describeManagement(describedSchema, describedRoleTable, explainedStatement);
}
