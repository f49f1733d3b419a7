/**
 * The routes of the auth service for second factors: those of users and those of admins.
 */

import type { UserBearer } from '../../auth/bearer.ts';
import {
  deleteAnyFactor,
  factorListShape,
  listFactors,
  updateAnyFactor,
  updateFactorBody,
} from '../../auth/requests/admin/admin-factors.ts';
import { challengeBody, challengeFactor, challengeShape } from '../../auth/requests/challenge-factor.ts';
import { enrollBody, enrolledShape, enrollFactor } from '../../auth/requests/enroll-factor.ts';
import { unenrolledShape, unenrollFactor } from '../../auth/requests/unenroll-factor.ts';
import { verifyFactor, verifyFactorBody } from '../../auth/requests/verify-factor.ts';
import { sessionShape } from '../../auth/secrets/access-token.ts';
import type { AuthContext } from '../../auth/steps/auth-context.ts';
import { requestAllowance } from '../../auth/store/rate-limit.ts';
import { factorShape } from '../../auth/user-json.ts';
import type { AuthReply } from './auth-reply.ts';
import type { AddressLimit, AuthRequest } from './auth-request.ts';
import { type AuthRow, asAdmin, json } from './auth-rows.ts';

/** The rows of users. */
export const factorRoutes: readonly AuthRow[] = [
  {
    method: 'POST',
    path: '/factors',
    summary: 'Add a second factor',
    caller: 'user',
    body: [enrollBody],
    answer: enrolledShape,
    run: asUser((request, { context, bearer }) => json(enrollFactor(context, bearer, request.body()))),
  },
  {
    method: 'POST',
    path: '/factors/:id/challenge',
    summary: 'Challenge a second factor; sends the code to a phone',
    caller: 'user',
    body: [challengeBody],
    isBodyOptional: true,
    answer: challengeShape,
    limit: limitGuesses('factor_challenge'),
    run: asUser((request, { context, bearer }) =>
      json(challengeFactor(context, bearer, request.path('id'), request.optionalBody())),
    ),
  },
  {
    method: 'POST',
    path: '/factors/:id/verify',
    summary: 'Verify a second factor; raises the session to level aal2',
    caller: 'user',
    body: [verifyFactorBody],
    answer: sessionShape,
    limit: limitGuesses('factor_verify'),
    run: asUser((request, { context, bearer }) =>
      json(verifyFactor(context, bearer, request.path('id'), request.body())),
    ),
  },
  {
    method: 'DELETE',
    path: '/factors/:id',
    summary: 'Remove a second factor',
    caller: 'user',
    answer: unenrolledShape,
    run: asUser((request, { context, bearer }) => json(unenrollFactor(context, bearer, request.path('id')))),
  },
];

/** The rows of admins. */
export const adminFactorRoutes: readonly AuthRow[] = [
  {
    method: 'GET',
    path: '/admin/users/:id/factors',
    summary: 'List the second factors of a user',
    caller: 'admin',
    answer: factorListShape,
    run: asAdmin((request) => json(listFactors(request.context, request.path('id')))),
  },
  {
    method: 'PUT',
    path: '/admin/users/:id/factors/:factor',
    summary: 'Update a second factor of a user',
    caller: 'admin',
    body: [updateFactorBody],
    answer: factorShape,
    run: asAdmin((request, admin) =>
      json(updateAnyFactor(request.context, admin, factorPath(request), request.body())),
    ),
  },
  {
    method: 'DELETE',
    path: '/admin/users/:id/factors/:factor',
    summary: 'Remove a second factor of a user',
    caller: 'admin',
    answer: factorShape,
    run: asAdmin((request, admin) => json(deleteAnyFactor(request.context, admin, factorPath(request)))),
  },
];

interface Asking {
  readonly bearer: UserBearer;
  readonly context: AuthContext;
}

function asUser(run: (request: AuthRequest, asking: Asking) => Promise<AuthReply>): AuthRow['run'] {
  return async (request) => run(request, await request.asUser());
}

function factorPath(request: AuthRequest) {
  return { userId: request.path('id'), factorId: request.path('factor') };
}

/** Each route has a bucket of its own. */
function limitGuesses(bucket: string): (request: AuthRequest) => AddressLimit {
  return ({ context }) => ({
    bucket,
    allowance: requestAllowance(context.config.mfa_rate_limit_challenge_and_verify, 60),
  });
}
