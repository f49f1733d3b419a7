/**
 * The management API for `/openapi.json`, from the rows that validate it and the table of its errors.
 */
import { answerSchema, changeSchema } from '../../management/config-schema.ts';
import { type ManagementErrorCode, managementErrors } from '../../management/management-error.ts';
import { schemaNamed } from '../../shared/json-schema.ts';
import type { ApiOperation, ApiParameter, ApiResponse } from '../server/openapi.ts';
import type { ApiDescription } from '../server/openapi-route.ts';

/** Path of the auth configuration, with its parameter as OpenAPI writes it. */
export const configPath = '/v1/projects/{ref}/config/auth';

const ref: ApiParameter = {
  name: 'ref',
  in: 'path',
  required: true,
  description: 'Project ref.',
  schema: { type: 'string', pattern: '^[a-z0-9]{20}$' },
};

const common = ['invalid_ref', 'unauthorized', 'forbidden', 'project_not_found', 'rate_limited'] as const;
const ofBodies = [
  'invalid_body',
  'validation_failed',
  'body_too_large',
  'unsupported_media_type',
  'read_failed',
] as const;
const ofChanges = [
  'version_conflict',
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
    summary: 'Read the auth configuration.',
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
    summary: 'Update fields of the auth configuration; applies to all requests after the response.',
    body: schemaNamed('AuthConfigChange'),
    responses: [{ status: 200, schema: config, headers }, ...refusals([...common, ...ofChanges])],
  };
  return {
    operations: [read, change, ...describeDrafts(read), ...describeVersions(read), describeSchemaOperation(read)],
    schemas: {
      ...{ AuthConfig: answerSchema(), AuthConfigChange: changeSchema(), ManagementError: errorSchema },
      ...{ DescribedEmail: emailSchema, EmailDraft: draftSchema, RenderedEmail: renderedSchema },
      ...{ ConfigVersion: versionSchema(false), ConfigVersionEmails: versionSchema(true), RoleSchema: roleSchema },
    },
  };
}

function describeDrafts(read: ApiOperation): readonly ApiOperation[] {
  const path = `${configPath}/emails`;
  const post = { ...read, method: 'post', body: schemaNamed('EmailDraft') } as const;
  const bad = refusals([...common, ...ofBodies]);
  return [
    {
      ...{
        ...read,
        path,
        id: 'listEmails',
        summary: 'List the emails with their fields, variables and built-in texts.',
      },
      responses: [
        { status: 200, schema: { type: 'array', items: schemaNamed('DescribedEmail') } },
        ...refusals([...common, 'read_failed']),
      ],
    },
    {
      ...{ ...post, path: `${path}/render`, id: 'renderEmail' },
      summary: 'Render a draft with sample or given data; the response includes its errors.',
      responses: [{ status: 200, schema: schemaNamed('RenderedEmail') }, ...bad],
    },
    {
      ...{ ...post, path: `${path}/send`, id: 'sendEmail' },
      summary: 'Send a draft to an address as a test.',
      body: { ...draftSchema, properties: { ...draftSchema.properties, to: string }, required: ['email', 'to'] },
      responses: [{ status: 200, schema: { type: 'object' } }, ...refusals([...common, ...ofBodies, 'send_failed'])],
    },
  ];
}

function describeVersions(read: ApiOperation): readonly ApiOperation[] {
  const path = `${configPath}/versions`;
  const version: ApiParameter = {
    ...{ name: 'version', in: 'path', required: true, description: 'Version number.' },
    schema: { type: 'integer', minimum: 1 },
  };
  return [
    {
      ...{ ...read, path, id: 'listConfigVersions', summary: 'List the changes, newest first.' },
      responses: [
        { status: 200, schema: { type: 'array', items: schemaNamed('ConfigVersion') } },
        ...refusals([...common, 'read_failed']),
      ],
    },
    {
      ...{ ...read, path: `${path}/{version}`, id: 'readConfigVersion', parameters: [ref, version] },
      summary: 'Read a version and its email settings.',
      responses: [
        { status: 200, schema: schemaNamed('ConfigVersionEmails') },
        ...refusals([...common, 'not_found', 'read_failed']),
      ],
    },
  ];
}

function describeSchemaOperation(read: ApiOperation): ApiOperation {
  const role: ApiParameter = {
    ...{ name: 'role', in: 'query', required: true, description: 'Database role.' },
    schema: { type: 'string' },
  };
  return {
    ...{ ...read, path: '/v1/projects/{ref}/schema', id: 'readRoleSchema', parameters: [ref, role] },
    summary:
      'Read what a role sees, what is hidden from it and why, and the SQL to expose it. Needs the scope `project:operate`.',
    responses: [
      { status: 200, schema: schemaNamed('RoleSchema') },
      ...refusals([...common, 'validation_failed', 'not_found', 'schema_unavailable']),
    ],
  };
}

const string = { type: 'string' };
const boolean = { type: 'boolean' };
const orNull = (type: string) => ({ type: [type, 'null'] });
const texts = { subject: string, content: string };

const emailSchema = {
  type: 'object',
  properties: {
    ...{
      email: string,
      group: { enum: ['authentication', 'notification'] },
      subjectField: string,
      contentField: string,
    },
    enabledField: orNull('string'),
    variables: { type: 'array', items: string },
    defaults: { type: 'object', properties: texts, description: 'Built-in texts, used for empty fields.' },
    start: { type: 'object', properties: texts, description: 'Texts used if nothing is stored.' },
    sample: { type: 'object' },
  },
};

const draftSchema = {
  type: 'object',
  properties: { email: string, ...texts, data: { type: 'object', description: 'Values of variables by name.' } },
  required: ['email'],
};

const faultSchema = {
  type: ['object', 'null'],
  properties: { phase: string, code: string, message: string, line: orNull('integer'), column: orNull('integer') },
};

const renderedText = {
  type: 'object',
  properties: { output: orNull('string'), fault: faultSchema, warnings: { type: 'array', items: string } },
};

const renderedSchema = {
  type: 'object',
  properties: { subject: renderedText, content: renderedText, text: orNull('string') },
};

function versionSchema(withValues: boolean) {
  return {
    type: 'object',
    properties: {
      version: { type: 'integer' },
      changed: { type: 'array', items: string },
      updatedAt: { type: 'string', format: 'date-time' },
      updatedBy: string,
      ...(withValues && { values: { type: 'object', description: 'Values by field; null: not stored.' } }),
    },
  };
}

const strings = { type: 'array', items: string };
const listOf = (properties: Readonly<Record<string, unknown>>) => ({
  type: 'array',
  items: { type: 'object', properties, required: Object.keys(properties) },
});

const roleSchema = {
  type: 'object',
  properties: {
    role: string,
    tables: listOf({
      ...{ name: string, object: string, description: orNull('string'), rowSecurity: boolean, rootFields: strings },
      kind: { enum: ['table', 'view', 'materialized_view', 'foreign_table'] },
      ...{ insert: boolean, update: boolean, delete: boolean },
      fields: listOf({
        ...{ name: string, type: string, column: orNull('string'), isKey: boolean, target: orNull('string') },
        ...{ kind: { enum: ['node_id', 'column', 'relationship', 'computed'] }, description: orNull('string') },
      }),
    }),
    relationships: listOf({
      ...{ from: string, to: string, field: orNull('string'), inverse: orNull('string') },
      cardinality: { enum: ['one', 'many'] },
    }),
    missing: listOf({
      kind: { enum: ['privilege', 'key', 'name', 'type', 'directive'] },
      ...{ object: string, names: strings, reason: string, fix: orNull('string') },
    }),
  },
  required: ['role', 'tables', 'relationships', 'missing'],
};

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
