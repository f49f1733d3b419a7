/** Describes the auth service for `/openapi.json`, from its routes. */
import { type ApiDescription, response } from '../../server/openapi.ts';
import { authPath } from '../../server/paths.ts';
import { describeRoutes } from '../../server/route.ts';
import type { Described, JsonSchema } from '../../shared/schema.ts';
import { errorSchema } from '../answers/error-response.ts';
import { authDocuments } from './auth-documents.ts';
import { authRoutes } from './auth-route.ts';
import { captchaField } from './require-captcha.ts';

/** Operations and schemas. */
export function describeAuth(): ApiDescription {
  const refusals = response('default', errorSchema.json);
  const routes = authRoutes.map((route) => ({
    ...route,
    body: (route.body ?? []).map((body) => (route.captcha ? withCaptcha(body) : body)),
  }));
  const [described, documents] = [
    describeRoutes(routes, {
      prefix: authPath,
      tagOf: ({ access }) => (access === 'admin' ? 'Auth administration' : 'Auth'),
      refusalsOf: () => refusals,
      error: errorSchema,
    }),
    describeRoutes(authDocuments, { prefix: authPath, tagOf: () => 'Auth', refusalsOf: () => ({}), error: null }),
  ];
  return {
    operations: [...described.operations, ...documents.operations],
    schemas: { ...described.schemas, ...documents.schemas },
  };
}

function withCaptcha(body: Described): Described {
  const properties = { ...(body.json.properties as JsonSchema), gotrue_meta_security: captchaField.json };
  return { ...body, json: { ...body.json, properties } };
}
