/**
 * Lets holders of an access token of the management API use the admin routes, so that no program has to carry the
 * service key for them.
 */
import type { FastifyRequest } from 'fastify';
import { countedAs } from '../../server/caller/client-address.ts';
import { hasSlowBody, noteSlowBody } from '../../server/slow-bodies.ts';
import { readBearerToken } from '../../shared/bearer-token.ts';
import type { Operator } from '../store/audit.ts';
import type { AuthParts } from './auth-parts.ts';
import { apiKeyOf, authorizationOf } from './request-headers.ts';

const admitted = new WeakMap<FastifyRequest, Operator>();

/**
 * Admits the holder of an access token, before the body is received.
 *
 * @returns Whether the request needs no API key. A key other than the token must still be valid.
 * @throws AuthError `no_authorization`, `not_admin`, `over_request_rate_limit`
 */
export async function admitOperator(request: FastifyRequest, { findOperator }: AuthParts): Promise<boolean> {
  const token = readBearerToken(authorizationOf(request));
  if (!token || findOperator === null) return false;
  await noteSlowBody(request);
  const operator = await findOperator(token, countedAs(null, request.state.address));
  if (operator === null) return false;
  admitted.set(request, operator);
  const key = apiKeyOf(request);
  return key === undefined || key === token;
}

/** Looks again at an access token whose holder was admitted before the body came. @throws AuthError as `admitOperator` */
export async function readmitOperator(request: FastifyRequest, auth: AuthParts): Promise<void> {
  if (hasSlowBody(request) && admitted.delete(request)) await admitOperator(request, auth);
}

/** The holder of an access token who was admitted; null for none. */
export function operatorOf(request: FastifyRequest): Operator | null {
  return admitted.get(request) ?? null;
}
