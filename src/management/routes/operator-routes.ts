/** The routes for operations and users of the project: plans, live queries, and tokens that read as a user. */
import { operatorToken } from '../../auth/answers/operator-token.ts';
import { AuthError } from '../../auth/model/auth-error.ts';
import { liveOverview, liveTarget } from '../../server/recent/live-schemas.ts';
import { errorCodes, PublicError } from '../../shared/errors.ts';
import {
  about,
  anything,
  integer,
  listOf,
  objectOf,
  optional,
  orNull,
  record,
  referTo,
  text,
  uuid,
} from '../../shared/schema.ts';
import { isUuid } from '../../shared/uuid.ts';
import { ManagementError } from '../management-error.ts';
import { type ManagementRoutes, noteUse, ofBodies, readAs, readRole } from './management-route-table.ts';

const explained = objectOf({
  query: about(text, 'A GraphQL document.'),
  operationName: optional(orNull(text)),
  variables: optional(orNull(record())),
  role: about(text, 'Database role.'),
  claims: record(),
});

const acted = objectOf({ user: uuid });

/** Time limit for making a user's token, as for any sign-in; in milliseconds. */
const actWithinMs = 10_000;

/** The routes. */
export const operatorRoutes: ManagementRoutes = {
  'POST /explain': {
    access: 'project:operate',
    id: 'explainOperation',
    summary: 'Read the statements of an operation and their plans',
    body: [explained],
    answer: objectOf({ statements: listOf(anything(referTo('ExplainedStatement'))) }),
    refusals: [...ofBodies, 'not_found'],
    failure: 'explain_failed',
    kind: 'read',
    async run(parts, request, { caller }) {
      const asked = readAs(explained, request);
      const role = readRole(asked, parts);
      // Planning runs functions of the database as the role.
      if (role === parts.config.serviceRole)
        await noteUse(parts, request, caller, ['service_role_used', { request_id: request.id }]);
      const operation = { role, claims: JSON.stringify(asked.claims), body: request.body as Buffer };
      return { statements: await parts.explain(operation).catch(refuse) };
    },
  },
  'GET /live-queries': {
    access: 'project:operate',
    id: 'listLiveQueries',
    summary: 'List the live queries of this gateway by operation and role',
    answer: liveOverview,
    failure: 'activity_failed',
    run: ({ recent }) => recent.live(),
  },
  'POST /live-queries/end': {
    access: 'project:operate',
    id: 'endLiveQueries',
    summary: 'End the subscriptions to an operation as a role',
    body: [liveTarget],
    answer: objectOf({ ended: about(integer, 'Subscriptions.') }),
    refusals: ofBodies,
    failure: 'activity_failed',
    run: async ({ recent }, request) => recent.endLive(readAs(liveTarget, request)),
  },
  'POST /act-as': {
    access: 'project:operate',
    id: 'actAsUser',
    summary: 'Create a token that reads as a user',
    body: [acted],
    answer: operatorToken,
    refusals: [...ofBodies, 'not_found'],
    failure: 'tokens_failed',
    kind: 'user request',
    async run({ auth }, request, { caller }) {
      const { user } = readAs(acted, request);
      if (!isUuid(user)) throw new ManagementError('validation_failed', 'user must be the id of a user');
      if (auth === null) throw new ManagementError('not_found', 'This gateway has no auth service');
      const [{ actAsUser }, { readAuthRequest }] = await Promise.all([
        import('../../auth/requests/admin/act-as-user.ts'),
        import('../../auth/routes/auth-request.ts'),
      ]);
      const deadline = performance.now() + actWithinMs;
      const { context } = readAuthRequest(request, auth, await auth.currentConfig(), deadline);
      return actAsUser(context, caller, user).catch(refuse);
    },
  },
};

/** @throws ManagementError for what clients may read; other errors stay. */
function refuse(error: unknown): never {
  const isOurs = error instanceof AuthError || (error instanceof PublicError && errorCodes[error.code].status < 500);
  if (!isOurs) throw error;
  const isMissing = error.code === 'user_not_found' || error.code === 'NOT_FOUND';
  throw new ManagementError(isMissing ? 'not_found' : 'validation_failed', error.message, { cause: error });
}
