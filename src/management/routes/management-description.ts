/**
 * Describes the management API for `/openapi.json`: from its routes, the configuration fields and its errors.
 */
import { type ApiDescription, type ApiOperation, json, response } from '../../server/openapi.ts';
import { projectPath } from '../../server/paths.ts';
import {
  flag,
  type JsonSchema,
  listOf,
  objectOf,
  oneOf,
  parameter,
  schemaNamed,
  text,
} from '../../shared/json-schema.ts';
import { answerSchema, changeSchema } from '../config-schema.ts';
import { deliverySchema, suppressedSchema } from '../deliveries/deliveries.ts';
import { type ManagementErrorCode, managementErrors } from '../management-error.ts';
import { describedEmail, emailDraft, renderedDraft, sharedTemplate } from '../templates/draft-schemas.ts';
import { createdToken, listedToken, wantedToken } from '../tokens/token-requests.ts';
import { configVersion, emailsOfVersion } from '../version-history.ts';
import { managementRoutes } from './management-route.ts';
import type { ManagementRoute, OpenManagementRoute } from './management-route-table.ts';

const ref = parameter('path', 'ref', 'Project ref.', { pattern: '^[a-z0-9]{20}$' });

const common = ['invalid_ref', 'unauthorized', 'forbidden', 'project_not_found', 'rate_limited'] as const;

/** Of routes without a token. */
const ofOpen = ['invalid_ref', 'project_not_found'] as const;

/** Operations and schemas. @param RoleSchema What `ManagementParts.describeSchema` answers. */
export function describeManagement(RoleSchema: JsonSchema): ApiDescription {
  const codes = Object.keys(managementErrors) as ManagementErrorCode[];
  const problem = objectOf(
    { message: text(), allow_warnings: flag },
    '`allow_warnings`: it is stored without `?allow_warnings=false`.',
  );
  const problems = { ...listOf(problem), description: 'Of a change of the configuration: each in the message.' };
  const ManagementError = objectOf({ message: text(), code: oneOf(...codes) }, undefined, { problems });
  return {
    operations: managementRoutes.map(describeRoute),
    schemas: {
      AuthConfig: answerSchema(),
      AuthConfigChange: changeSchema(),
      ManagementError,
      DescribedEmail: describedEmail,
      SharedTemplate: sharedTemplate,
      EmailDraft: emailDraft,
      RenderedEmail: renderedDraft,
      AccessToken: listedToken,
      CreatedAccessToken: createdToken,
      NewAccessToken: wantedToken,
      Delivery: deliverySchema,
      SuppressedAddress: suppressedSchema,
      ConfigVersion: configVersion,
      ConfigVersionEmails: emailsOfVersion,
      RoleSchema,
    },
  };
}

function describeRoute(route: ManagementRoute | OpenManagementRoute): ApiOperation {
  const isOpen = 'access' in route;
  const { method, path, id, summary, parameters = [], body, answer, headers, refusals } = route;
  return {
    method,
    id,
    tag: 'Management',
    summary,
    security: isOpen ? [] : ['accessToken'],
    path: `${projectPath}${path}`.replace(/:(\w+)/g, '{$1}'),
    more: {
      parameters: [ref, ...parameters],
      ...(body !== undefined && { requestBody: { required: true, ...json(body) } }),
      responses: {
        ...response(200, answer, headers),
        ...describeRefusals([...(isOpen ? ofOpen : common), ...refusals]),
      },
    },
  };
}

/** One entry per status. */
function describeRefusals(codes: readonly ManagementErrorCode[]): JsonSchema {
  const byStatus = Map.groupBy(codes, (code) => managementErrors[code].status);
  const entries = [...byStatus].map(([status, ofStatus]) => {
    const description = ofStatus.map((code) => managementErrors[code].meaning).join(' ');
    const headers = status === 429 ? { 'Retry-After': 'Seconds to wait.' } : {};
    return response(status, schemaNamed('ManagementError'), headers, description);
  });
  return Object.assign({}, ...entries);
}
