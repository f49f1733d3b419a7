/**
 * The routes of the auth service for the identities of the user who is signed in.
 */
import { unlinkedShape, unlinkIdentity } from '../../auth/requests/unlink-identity.ts';
import { type AuthRow, json } from './auth-rows.ts';

/** The rows. */
export const identityRoutes: readonly AuthRow[] = [
  {
    method: 'DELETE',
    path: '/user/identities/:id',
    summary: 'Unlink an identity; at least one must remain',
    caller: 'user',
    answer: unlinkedShape,
    run: async (request) => {
      const { context, bearer } = await request.asUser();
      return json(unlinkIdentity(context, bearer, request.path('id')));
    },
  },
];
