/**
 * Describes the management API for `/openapi.json`, from its routes and its errors.
 */
import { type ApiDescription, response } from '../../server/openapi.ts';
import { projectPath } from '../../server/paths.ts';
import { describeRoutes } from '../../server/route.ts';
import {
  about,
  type Described,
  type JsonSchema,
  listOf,
  named,
  objectOf,
  oneOf,
  optional,
  text,
} from '../../shared/schema.ts';
import { changeProblem } from '../change-note.ts';
import { type ManagementErrorCode, managementErrors } from '../management-error.ts';
import { managementRoutes } from './management-route.ts';

const error = named(
  'ManagementError',
  objectOf({
    message: text,
    code: oneOf(...(Object.keys(managementErrors) as ManagementErrorCode[])),
    problems: optional(about(listOf(changeProblem), 'Of a change of the configuration: each in the message.')),
  }),
);

const common = ['invalid_ref', 'unauthorized', 'forbidden', 'project_not_found', 'rate_limited'] as const;

/** Of routes without a token. */
const ofOpen = ['invalid_ref', 'project_not_found'] as const;

/** Operations and schemas. @param described What `ManagementParts` describes: the schema of a role, and a table of it. */
export function describeManagement(...described: readonly Described[]): ApiDescription {
  const { operations, schemas } = describeRoutes(managementRoutes, {
    prefix: projectPath,
    prefixParameters: { ref: about(text, { description: 'Project ref.', pattern: '^[a-z0-9]{20}$' }) },
    tagOf: () => 'Management',
    refusalsOf: ({ access, refusals = [], failure }) =>
      describeRefusals([...(access === 'anyone' ? ofOpen : common), ...refusals, failure]),
    error,
  });
  return { operations, schemas: Object.assign({}, schemas, ...described.map(({ named }) => named)) };
}

/** One entry per status. */
function describeRefusals(codes: readonly ManagementErrorCode[]): JsonSchema {
  const byStatus = Map.groupBy(codes, (code) => managementErrors[code].status);
  const entries = [...byStatus].map(([status, ofStatus]) => {
    const description = ofStatus.map((code) => managementErrors[code].meaning).join(' ');
    const headers = status === 429 ? { 'Retry-After': 'Seconds to wait.' } : {};
    return response(status, error.json, headers, description);
  });
  return Object.assign({}, ...entries);
}
