/**
 * The routes of the management API: their handlers and descriptions for `/openapi.json`.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { auditOperator } from '../../auth/store/audit.ts';
import { ignoredHeader, warningsHeader } from '../../server/cors.ts';
import type { Route, RouteFacts, RouteTable } from '../../server/route.ts';
import {
  about,
  anything,
  flag,
  integer,
  listOf,
  optional,
  record,
  referTo,
  type Schema,
  text,
  uuid,
} from '../../shared/schema.ts';
import { configAnswer, configChange } from '../config-schema.ts';
import type { ConfigSnapshot } from '../config-store.ts';
import { describedFields, describeFields } from '../describe-fields.ts';
import { type ManagedProject, readSampleSettings, startConfig } from '../managed-project.ts';
import type { ManagementCaller } from '../management-caller.ts';
import { ManagementError, type ManagementErrorCode } from '../management-error.ts';
import { presentConfig } from '../present-config.ts';
import { describedEmail, emailDraft, emailTrial, renderedDraft, sharedTemplate } from '../templates/draft-schemas.ts';
import type { AccessScope } from '../tokens/access-tokens.ts';
import {
  type AuditToken,
  createdToken,
  createToken,
  listedToken,
  listTokens,
  revokeToken,
  type TokenRequest,
  wantedToken,
} from '../tokens/token-requests.ts';
import { configVersion, listVersions, readVersion, versionValues } from '../version-history.ts';
import type { ManagementParts, RequestKind } from './management-parts.ts';

/** What the management API needs to know of a route in addition. */
interface ManagementRouteFacts extends RouteFacts {
  readonly access: AccessScope;
  /** In addition to those of every route. */
  readonly refusals?: readonly ManagementErrorCode[];
  /** Masks all other errors. */
  readonly failure: ManagementErrorCode;
  readonly kind?: RequestKind;
  readonly run: (parts: ManagementParts, request: FastifyRequest, asked: Asked) => Promise<unknown>;
}

/** Routes by method and path relative to a project, with parameters after colons: `GET /config/auth`. */
export type ManagementRoutes = RouteTable<'GET' | 'PATCH' | 'POST' | 'DELETE', ManagementRouteFacts>;

/** One route. */
export type ManagementRoute = Route<ManagementRoutes>;

/** A route without an access token: its handler finds out who asks. */
export interface OpenManagementRoute extends Omit<ManagementRoute, 'access' | 'run' | 'kind'> {
  readonly access: 'anyone';
  readonly run: (parts: ManagementParts, request: FastifyRequest) => Promise<unknown>;
}

interface Asked {
  readonly caller: ManagementCaller;
  readonly reply: FastifyReply;
}

/** Refusals of bodies. */
export const ofBodies = ['invalid_body', 'validation_failed', 'body_too_large', 'unsupported_media_type'] as const;

// Loaded with the first draft: it needs the whole template engine.
const loadDrafts = () => import('../templates/email-drafts.ts');

/** The routes of the configuration, access tokens and schemas. */
export const configRoutes: ManagementRoutes = {
  'GET /config/auth': {
    access: 'auth_config:read',
    id: 'getAuthConfig',
    summary: 'Read the auth configuration',
    answer: configAnswer,
    failure: 'read_failed',
    async run({ project }, _, { reply }) {
      await project.store.refreshIfNewer(project.pool);
      return sendConfig(reply, project, project.store.snapshot());
    },
  },
  'PATCH /config/auth': {
    access: 'auth_config:write',
    id: 'updateAuthConfig',
    summary: 'Update fields of the auth configuration; applies to all requests after the response',
    query: {
      allow_warnings: optional(
        about(flag, { description: '`false` refuses emails whose links lead nowhere.', default: true }),
      ),
    },
    headers: {
      'If-Match': 'Change only this version, an `ETag` of an earlier answer.',
      Prefer: '`return=representation; warnings`: adds the warnings to the answer.',
    },
    body: [configChange],
    answer: configAnswer,
    answerHeaders: {
      [ignoredHeader]: 'Names of the given fields that have no effect, separated by commas.',
      [warningsHeader]: 'Warnings about the stored values, separated by semicolons.',
    },
    refusals: [...ofBodies, 'version_conflict'],
    failure: 'update_failed',
    async run({ project }, request, { caller, reply }) {
      const { headers, query } = request;
      if (project.store.configOnly) throw new ManagementError('config_only');
      const body = readBody(request);
      const ifVersion = readIfMatch(headers['if-match']);
      const allowWarnings = (query as { readonly allow_warnings?: unknown }).allow_warnings !== 'false';
      const { changeConfig } = await import('../change-config.ts');
      const changed = await changeConfig(project, body, { by: caller.by, ifVersion, allowWarnings });
      const { snapshot, ignored, warnings, consequences } = changed;
      for (const { message } of warnings) {
        project.observe({ kind: 'warning', message: `Auth configuration: ${message}` });
      }
      if (ignored.length > 0) reply.header(ignoredHeader, headerText(ignored.join(',')));
      if (warnings.length > 0)
        reply.header(warningsHeader, headerText(warnings.map(({ message }) => message).join('; ')));
      const presented = sendConfig(reply, project, snapshot);
      if (!prefersWarnings(headers.prefer)) return presented;
      reply.header('preference-applied', 'return=representation; warnings');
      return { ...presented, warnings: [...warnings, ...consequences] };
    },
  },
  'GET /config/auth/fields': {
    access: 'auth_config:read',
    id: 'listAuthConfigFields',
    summary: 'List the fields: what each takes, where its value comes from, and what applies without a stored one',
    answer: describedFields,
    failure: 'read_failed',
    async run({ project: { store, pool, digest } }) {
      await store.refreshIfNewer(pool);
      return describeFields(store.snapshot(), digest, store.configOnly);
    },
  },
  'GET /config/auth/emails': {
    access: 'auth_config:read',
    id: 'listEmails',
    summary: 'List the emails with their fields, variables and built-in texts',
    answer: listOf(describedEmail),
    failure: 'read_failed',
    async run({ project }) {
      const { describeEmails } = await loadDrafts();
      return describeEmails(await readSampleSettings(project), startConfig(project));
    },
  },
  'GET /config/auth/emails/shared': {
    access: 'auth_config:read',
    id: 'listSharedTemplates',
    summary: 'List the templates beside the emails: the layout and the page of links',
    answer: listOf(sharedTemplate),
    failure: 'read_failed',
    async run({ project }) {
      const { describeSharedTemplates } = await import('../templates/shared-drafts.ts');
      const { config } = await readSampleSettings(project);
      return describeSharedTemplates(config, startConfig(project));
    },
  },
  'POST /config/auth/emails/render': {
    access: 'auth_config:read',
    id: 'renderEmail',
    summary: 'Render a draft with sample or given data; the response includes its errors',
    body: [emailDraft],
    answer: renderedDraft,
    refusals: ofBodies,
    failure: 'read_failed',
    kind: 'rendering',
    async run({ project }, request, { caller }) {
      const settings = await readSampleSettings(project);
      const { renderRequest } = await import('../templates/shared-drafts.ts');
      return project.renderingTime.spend(caller.tokenId, () => renderRequest(readBody(request), settings));
    },
  },
  'POST /config/auth/emails/send': {
    access: 'auth_config:write',
    id: 'sendEmail',
    summary: 'Send a draft to an address as a test',
    body: [emailTrial],
    answer: record(),
    refusals: [...ofBodies, 'deliveries_failed', 'send_failed'],
    failure: 'read_failed',
    async run({ project, auth }, request) {
      if (auth === null) throw new ManagementError('send_failed', 'This gateway has no auth service to send with');
      const body = readBody(request);
      const { sendDraft } = await import('../templates/send-draft.ts');
      await sendDraft(body, await readSampleSettings(project), auth.services.sendTestEmail);
      return {};
    },
  },
  'GET /config/auth/versions': {
    access: 'auth_config:read',
    id: 'listConfigVersions',
    summary: 'List the changes, newest first',
    answer: listOf(configVersion),
    failure: 'read_failed',
    run: async ({ project: { pool, ref } }) => listVersions(pool, await ref()),
  },
  'GET /config/auth/versions/:version': {
    access: 'auth_config:read',
    id: 'readConfigVersion',
    summary: 'Read a version and its values',
    pathParameters: { version: about(integer, { description: 'Version number.', minimum: 1 }) },
    answer: versionValues,
    refusals: ['not_found'],
    failure: 'read_failed',
    async run({ project: { pool, ref, digest } }, request) {
      const { version } = request.params as { readonly version: string };
      if (!/^\d{1,15}$/.test(version)) throw new ManagementError('not_found');
      const found = await readVersion({ database: pool, ref: await ref(), digest }, Number(version));
      if (found === null) throw new ManagementError('not_found', `Version ${Number(version)} is not kept`);
      return found;
    },
  },
  'GET /access-tokens': {
    access: 'project:operate',
    id: 'listAccessTokens',
    summary: 'List the access tokens, newest first',
    answer: listOf(listedToken),
    failure: 'tokens_failed',
    run: async (parts, request, { caller }) => listTokens(await toTokenRequest(parts, request, caller)),
  },
  'POST /access-tokens': {
    access: 'project:operate',
    id: 'createAccessToken',
    summary: 'Create an access token with no more rights than your own',
    body: [wantedToken],
    answer: createdToken,
    refusals: ofBodies,
    failure: 'tokens_failed',
    run: async (parts, request, { caller }) =>
      createToken(await toTokenRequest(parts, request, caller), readBody(request)),
  },
  'DELETE /access-tokens/:id': {
    access: 'project:operate',
    id: 'revokeAccessToken',
    summary: 'Revoke an access token',
    pathParameters: { id: about(uuid, 'Id of the token.') },
    answer: listedToken,
    refusals: ['not_found'],
    failure: 'tokens_failed',
    async run(parts, request, { caller }) {
      const { id } = request.params as { readonly id: string };
      return revokeToken(await toTokenRequest(parts, request, caller), id);
    },
  },
  'GET /schema': {
    access: 'project:operate',
    id: 'readRoleSchema',
    summary: 'Read what a role sees, what is hidden from it and why, and the SQL to expose it',
    query: { role: about(text, 'Database role.') },
    answer: anything(referTo('RoleSchema')),
    refusals: ['validation_failed', 'not_found'],
    failure: 'schema_unavailable',
    run: async (parts, request) => readSchema(readRole(request.query, parts), parts),
  },
  'GET /schema/tables/:name': {
    access: 'project:operate',
    id: 'readRoleTable',
    summary: 'Read how a role filters, orders and writes a table, and how its rows lead to others',
    pathParameters: { name: about(text, 'Object type of the table.') },
    query: { role: about(text, 'Database role.') },
    answer: anything(referTo('RoleTable')),
    refusals: ['validation_failed', 'not_found'],
    failure: 'schema_unavailable',
    async run(parts, request) {
      const role = readRole(request.query, parts);
      const { name } = request.params as { readonly name: string };
      const table = await parts.describeTable(role, name);
      if (table === null) throw new ManagementError('not_found', `The role "${role.slice(0, 63)}" sees no such table`);
      return table;
    },
  },
};

/** For operators only, because the schema also names what its role cannot see. */
async function readSchema(role: string, { describeSchema }: ManagementParts): Promise<unknown> {
  const schema = await describeSchema(role);
  if (schema === null)
    throw new ManagementError('not_found', `There is no role "${role.slice(0, 63)}" in the database`);
  return schema;
}

/** The role of a query string or body. @throws ManagementError `validation_failed` */
export function readRole(asked: unknown, { config: { allowedRoles: allowed } }: ManagementParts): string {
  const { role } = asked as { readonly role?: unknown };
  if (typeof role === 'string' && role !== '' && (allowed === '*' || allowed.includes(role))) return role;
  throw new ManagementError('validation_failed', 'role must be one of the roles that requests may have');
}

/** The version in an `If-Match` header (the `ETag` of an answer); null for none, and for `*`. */
function readIfMatch(header: string | undefined): number | null {
  if (header === undefined || header === '*') return null;
  const [, version] = /^"(\d{1,15})"$/.exec(header) ?? [];
  // A malformed version never matches the stored one.
  return version === undefined ? -1 : Number(version);
}

/** `Prefer: return=representation; warnings`; clients usually send both without quotes, among other preferences. */
function prefersWarnings(header: string | readonly string[] | undefined): boolean {
  const words = String(header ?? '').split(/[,;]/);
  return words.some((word) => word.trim().toLowerCase() === 'warnings');
}

function sendConfig(reply: FastifyReply, { digest }: ManagedProject, snapshot: ConfigSnapshot) {
  reply.header('etag', `"${snapshot.version}"`);
  return presentConfig(snapshot, digest);
}

/** The JSON of a body. @throws ManagementError `unsupported_media_type`, `invalid_body` */
export function readBody({ headers, body }: FastifyRequest): unknown {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (!/^application\/([\w.-]+\+)?json$/.test(type)) throw new ManagementError('unsupported_media_type');
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') throw new ManagementError('unsupported_media_type');
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode((body as Buffer | undefined) ?? Buffer.alloc(0));
    return JSON.parse(text);
  } catch {
    throw new ManagementError('invalid_body');
  }
}

/** @throws ManagementError as `readBody`, and `validation_failed` */
export function readAs<T>(schema: Schema<T>, request: FastifyRequest): T {
  const body = readBody(request);
  try {
    return schema.parse(body);
  } catch (error) {
    throw new ManagementError('validation_failed', `Invalid body: ${(error as Error).message}`);
  }
}

/** Headers allow one line of ASCII; cut a long list. */
function headerText(text: string): string {
  const line = text.replace(/[^\x20-\x7e]/g, '?');
  return line.length > 4000 ? `${line.slice(0, 4000)}...` : line;
}

/** Leaves a row of the audit log before an operator does something, whatever comes of that. */
export async function noteUse(
  parts: Pick<ManagementParts, 'project'>,
  request: FastifyRequest,
  caller: ManagementCaller,
  [action, traits]: readonly [action: Parameters<AuditToken>[2], traits: Parameters<AuditToken>[3]],
): Promise<void> {
  const asked = await toTokenRequest(parts, request, caller);
  await asked.pool.transaction((tx) => asked.audit(tx, asked, action, traits));
}

/** What a change by an operator needs, with its row of the audit log. */
async function toTokenRequest(
  { project: { pool, clock, ref, store } }: Pick<ManagementParts, 'project'>,
  { state }: FastifyRequest,
  caller: ManagementCaller,
): Promise<TokenRequest> {
  const config = await store.refreshIfNewer(pool);
  return { pool, clock, ref: await ref(), config, caller, audit: auditTokenFrom(state.address) };
}

/** Writes the audit row for a change of an access token, in the same transaction. @param address Of the client. */
function auditTokenFrom(address: string | null): AuditToken {
  return (session, { clock, config, caller }, action, traits) =>
    auditOperator(
      { query: (text, values) => session.query(text, values), clock, config, client: { ip: address } },
      action,
      caller,
      traits,
    );
}
