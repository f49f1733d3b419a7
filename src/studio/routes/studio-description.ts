/** Describes the requests of the studio for `/openapi.json`, from their routes. */
import { requestErrors } from '../../server/error-body.ts';
import { type ApiDescription, response } from '../../server/openapi.ts';
import { studioPath } from '../../server/paths.ts';
import { describeRoutes, type RouteFacts, type RouteTable, routesOf } from '../../server/route.ts';

/** Operations and schemas. */
export function describeStudio(...tables: readonly RouteTable<string, RouteFacts>[]): ApiDescription {
  const refusals = response('default', requestErrors.json);
  return describeRoutes(routesOf(...tables), {
    prefix: studioPath,
    tagOf: () => 'Studio',
    refusalsOf: () => refusals,
    error: requestErrors,
  });
}
