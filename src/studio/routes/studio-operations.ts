/**
 * Requests of operators that only the studio sends: operations as the service role, SQL and plan of an operation, and
 * a token of a user.
 *
 * All need an access token with the scope `project:operate`, which is granted only explicitly.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OperatorToken } from '../../auth/answers/operator-token.ts';
import { AuthError } from '../../auth/model/auth-error.ts';
import { actAsRole, actAsUser } from '../../auth/requests/admin/act-as-user.ts';
import { readAuthRequest } from '../../auth/routes/auth-request.ts';
import type { AuthContext } from '../../auth/steps/auth-context.ts';
import type { Operator } from '../../auth/store/audit.ts';
import type { ExplainedStatement } from '../../graphql/execute/explain-operation.ts';
import { run, sendText, writeHead } from '../../graphql/routes/graphql-answer.ts';
import { decodeText, readRequest } from '../../graphql/routes/read-request.ts';
import { callerOf } from '../../server/caller/authenticate.ts';
import { answerTypeOf } from '../../server/media-types.ts';
import { type Code, PublicError } from '../../shared/errors.ts';
import { isObject, parseJson } from '../../shared/json.ts';
import { isUuid } from '../../shared/uuid.ts';
import { forThisOrigin } from './studio-pages.ts';
import type { Asked, PageParts } from './studio-parts.ts';

/** How long a stream goes on before its access token is verified again, in milliseconds. Each request verifies it. */
const verifiedMs = 5000;

/** Answers an operation as the service role, or as that of users without one of them, also with a stream of events; the body is a GraphQL request. */
export async function answerAsRole(
  { parts, verify, request, reply }: Asked,
  operator: Operator,
): Promise<FastifyReply> {
  const { id, body, headers, method, routeOptions, state } = request;
  const graphql = readRequest(decodeText((body as Buffer | undefined) ?? Buffer.alloc(0)));
  const { serviceRole, authenticatedRole } = parts.config;
  const { role = serviceRole } = request.query as { readonly role?: unknown };
  if (role !== serviceRole && role !== authenticatedRole) {
    throw new PublicError('BAD_USER_INPUT', `role must be ${serviceRole} or ${authenticatedRole}.`);
  }
  const action = role === serviceRole ? 'service_role_used' : 'authenticated_role_used';
  const text = JSON.stringify(await actAsRole(await contextOf(request, parts), operator, { role, action }, id));
  const identify = () => ({ role, claims: text, subject: null, validUntil: Date.now() + verifiedMs });
  const identity = identify();
  Object.assign(state, { identity, caller: callerOf(identity, headers, method, routeOptions.url ?? '') });
  if (answerTypeOf(headers.accept) === 'text/event-stream') {
    const again = async () => {
      await verify(request);
      return identify();
    };
    const authenticate = Object.assign(again, { now: () => Date.now() });
    return parts.streams.answer(request, reply, graphql, { authenticate, headers: forThisOrigin(reply).getHeaders() });
  }
  const answer = await run(parts, request, graphql);
  writeHead(parts, request, reply, { answer, answerType: 'application/json' });
  return sendText(request, reply, answer.body);
}

/** Answers with the statements; the body is a GraphQL request with the additional members `role` and `claims`. */
export async function answerExplain(
  { parts, studio, request: asked }: Asked,
  operator: Operator,
): Promise<{ readonly statements: readonly ExplainedStatement[] }> {
  const text = decodeText((asked.body as Buffer | undefined) ?? Buffer.alloc(0));
  const request = readRequest(text);
  const { role, claims } = JSON.parse(text) as { readonly role?: unknown; readonly claims?: unknown };
  const { allowedRoles, serviceRole } = parts.config;
  if (typeof role !== 'string' || !(allowedRoles === '*' || allowedRoles.includes(role))) {
    throw new PublicError('BAD_USER_INPUT', 'role must be one of the roles that requests may have.');
  }
  if (!isObject(claims)) {
    throw new PublicError('BAD_USER_INPUT', 'claims must be an object.');
  }
  // Planning runs functions of the database as the role. Without an auth service there is no audit log.
  if (role === serviceRole && parts.auth)
    await actAsRole(await contextOf(asked, parts), operator, { role, action: 'service_role_used' }, asked.id);
  return { statements: await studio.explain(role, JSON.stringify(claims), request) };
}

/** Time limit for making a user's token, as for any sign-in; in milliseconds. */
const actWithinMs = 10_000;

/** Answers with a token; the body is `{"user": <id>}`. */
export async function answerActAs(
  request: FastifyRequest,
  parts: PageParts,
  operator: Operator,
): Promise<OperatorToken> {
  const id = readUserId(request.body as Buffer | undefined);
  return actAsUser(await contextOf(request, parts), operator, id).catch((error) => {
    if (!(error instanceof AuthError)) throw error;
    const code: Code = error.code === 'user_not_found' ? 'NOT_FOUND' : 'BAD_USER_INPUT';
    throw new PublicError(code, error.message, { cause: error });
  });
}

async function contextOf(request: FastifyRequest, { auth }: PageParts): Promise<AuthContext> {
  if (!auth) throw new PublicError('NOT_FOUND', 'This gateway has no auth service.');
  return readAuthRequest(request, auth, await auth.currentConfig(), performance.now() + actWithinMs).context;
}

function readUserId(body: Buffer | undefined): string {
  const json = parseJson(String(body));
  const id = isObject(json) ? json.user : null;
  if (typeof id !== 'string' || !isUuid(id)) throw new PublicError('BAD_USER_INPUT', 'user must be the id of a user.');
  return id;
}
