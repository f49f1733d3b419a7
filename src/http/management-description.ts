/**
 * The management API for `/openapi.json`, from the rows that validate it and the table of its errors.
 */
import { answerSchema, changeSchema } from '../management/config-schema.ts';
import { type ManagementErrorCode, managementErrors } from '../management/management-error.ts';
import { schemaNamed } from '../shared/json-schema.ts';
import type { ApiOperation, ApiParameter, ApiResponse } from './openapi.ts';
import type { ApiDescription } from './openapi-route.ts';

/** Path of the auth configuration, with its parameter as OpenAPI writes it. */
export const configPath = '/v1/projects/{ref}/config/auth';

const ref: ApiParameter = {
  name: 'ref',
  in: 'path',
  required: true,
  description: 'Ref of the project.',
  schema: { type: 'string', pattern: '^[a-z0-9]{20}$' },
};

const common = ['invalid_ref', 'unauthorized', 'forbidden', 'project_not_found', 'rate_limited'] as const;
const ofChanges = [
  'invalid_body',
  'validation_failed',
  'body_too_large',
  'unsupported_media_type',
  'update_failed',
] as const;
const tag = 'Management';

/** Name of the header with the fields of a change that have no effect. */
export const ignoredHeader = 'X-Pgreflect-Ignored-Fields';

/** Name of the header with what is valid and probably not meant. */
export const warningsHeader = 'X-Pgreflect-Warnings';

/** Operations and schemas. */
export function describeManagement(): ApiDescription {
  const config = schemaNamed('AuthConfig');
  const read: ApiOperation = {
    method: 'get',
    path: configPath,
    id: 'getAuthConfig',
    tag,
    summary: 'The auth configuration in force.',
    security: ['accessToken'],
    parameters: [ref],
    responses: [{ status: 200, schema: config }, ...refusals([...common, 'read_failed'])],
  };
  const headers = {
    [ignoredHeader]: 'Names of the given fields that have no effect, separated by commas.',
    [warningsHeader]: 'What was stored but is probably not meant, separated by semicolons.',
  };
  const change: ApiOperation = {
    ...read,
    method: 'patch',
    id: 'updateAuthConfig',
    summary: 'Changes any of its fields; in force for every request that starts after the answer.',
    body: schemaNamed('AuthConfigChange'),
    responses: [{ status: 200, schema: config, headers }, ...refusals([...common, ...ofChanges])],
  };
  return {
    operations: [read, change],
    schemas: { AuthConfig: answerSchema(), AuthConfigChange: changeSchema(), ManagementError: errorSchema },
  };
}

const errorSchema = {
  type: 'object',
  properties: { message: { type: 'string' }, code: { type: 'string', enum: Object.keys(managementErrors) } },
  required: ['message', 'code'],
};

/** One entry for each status. */
function refusals(codes: readonly ManagementErrorCode[]): readonly ApiResponse[] {
  const rows = codes.map((code) => managementErrors[code]);
  const statuses = [...new Set(rows.map(({ status }) => status))].sort();
  return statuses.map((status) => ({
    status,
    description: rows
      .filter((row) => row.status === status)
      .map(({ meaning }) => meaning)
      .join(' '),
    schema: schemaNamed('ManagementError'),
    ...(status === 429 && { headers: { 'Retry-After': 'Seconds to wait.' } }),
  }));
}
