/** Operations of operators as the service role, or as the role of users, of which the audit log has a row each. */
import type { FastifyReply } from 'fastify';
import { run, sendText, writeHead } from '../../graphql/routes/graphql-answer.ts';
import { decodeText, readRequest } from '../../graphql/routes/read-request.ts';
import type { ManagementCaller } from '../../management/management-caller.ts';
import { noteUse } from '../../management/routes/management-route-table.ts';
import { callerOf } from '../../server/caller/authenticate.ts';
import { answerTypeOf } from '../../server/media-types.ts';
import { PublicError } from '../../shared/errors.ts';
import { forThisOrigin } from './studio-pages.ts';
import type { Asked } from './studio-parts.ts';

/** How long a stream goes on before its access token is verified again, in milliseconds. Each request verifies it. */
const verifiedMs = 5000;

/** Answers an operation as the service role, or as that of users without one of them, also with a stream of events; the body is a GraphQL request. */
export async function answerAsRole(
  { parts, studio, verify, request, reply }: Asked,
  operator: ManagementCaller,
): Promise<FastifyReply> {
  const { id, body, headers, method, routeOptions, state } = request;
  const graphql = readRequest(decodeText((body as Buffer | undefined) ?? Buffer.alloc(0)));
  const { serviceRole, authenticatedRole } = parts.config;
  const { role = serviceRole } = request.query as { readonly role?: unknown };
  if (role !== serviceRole && role !== authenticatedRole) {
    throw new PublicError('BAD_USER_INPUT', `role must be ${serviceRole} or ${authenticatedRole}.`);
  }
  const action = role === serviceRole ? 'service_role_used' : 'authenticated_role_used';
  await noteUse(studio, request, operator, [action, { request_id: id }]);
  // The operator sends their own access token: there is none of the role, which would outlive it.
  const claims = JSON.stringify({ role, act: { sub: operator.tokenId } });
  const identify = () => ({ role, claims, subject: null, validUntil: Date.now() + verifiedMs });
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
