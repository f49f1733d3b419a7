/** The routes of the auth service for second factors, for users and for admins. */
import { factorSerializer } from '../answers/user-json.ts';
import {
  deleteAnyFactor,
  factorListSchema,
  listFactors,
  updateAnyFactor,
  updateFactorBody,
} from '../requests/admin/admin-factors.ts';
import { challengeBody, challengeFactor, challengeSerializer } from '../requests/challenge-factor.ts';
import { enrollBody, enrolledSerializer, enrollFactor } from '../requests/enroll-factor.ts';
import { unenrolledSerializer, unenrollFactor } from '../requests/unenroll-factor.ts';
import { verifyFactor, verifyFactorBody } from '../requests/verify-factor.ts';
import { sessionSerializer } from '../secrets/access-token.ts';
import { type AuthRequest, limitBy } from './auth-request.ts';
import { type AuthRoutes, json } from './auth-route-table.ts';

/** The routes for users. */
export const factorRoutes: AuthRoutes = {
  'POST /factors': {
    summary: 'Add a second factor',
    access: 'user',
    body: [enrollBody],
    answer: enrolledSerializer,
    run: ({ body }, { context, bearer }) => json(enrollFactor(context, bearer, body())),
  },
  'POST /factors/:id/challenge': {
    summary: 'Challenge a second factor; sends the code to a phone',
    access: 'user',
    body: [challengeBody],
    isBodyOptional: true,
    answer: challengeSerializer,
    limit: limitBy('factor_challenge', 'mfa_rate_limit_challenge_and_verify', 60),
    run: ({ path, optionalBody }, { context, bearer }) =>
      json(challengeFactor(context, bearer, path('id'), optionalBody())),
  },
  'POST /factors/:id/verify': {
    summary: 'Verify a second factor; raises the session to level aal2',
    access: 'user',
    body: [verifyFactorBody],
    answer: sessionSerializer,
    attempt: () => ({ action: 'second_factor', method: 'code' }),
    limit: limitBy('factor_verify', 'mfa_rate_limit_challenge_and_verify', 60),
    run: ({ path, body }, { context, bearer }) => json(verifyFactor(context, bearer, path('id'), body())),
  },
  'DELETE /factors/:id': {
    summary: 'Remove a second factor',
    access: 'user',
    answer: unenrolledSerializer,
    run: ({ path }, { context, bearer }) => json(unenrollFactor(context, bearer, path('id'))),
  },
};

/** The routes for admins. */
export const adminFactorRoutes: AuthRoutes = {
  'GET /admin/users/:id/factors': {
    summary: 'List the second factors of a user',
    access: 'admin',
    answer: factorListSchema,
    run: ({ context, path }) => json(listFactors(context, path('id'))),
  },
  'PUT /admin/users/:id/factors/:factor': {
    summary: 'Update a second factor of a user',
    access: 'admin',
    body: [updateFactorBody],
    answer: factorSerializer,
    run: (request, admin) => json(updateAnyFactor(request.context, admin, factorPath(request), request.body())),
  },
  'DELETE /admin/users/:id/factors/:factor': {
    summary: 'Remove a second factor of a user',
    access: 'admin',
    answer: factorSerializer,
    run: (request, admin) => json(deleteAnyFactor(request.context, admin, factorPath(request))),
  },
};

function factorPath({ path }: AuthRequest) {
  return { userId: path('id'), factorId: path('factor') };
}
