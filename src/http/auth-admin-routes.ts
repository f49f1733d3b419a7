/**
 * The routes of the auth service for servers that hold the service key.
 */
import type { AdminBearer } from '../auth/bearer.ts';
import { createUser } from '../auth/flows/admin-create-user.ts';
import { deleteAnyUser } from '../auth/flows/admin-delete-user.ts';
import { listUsers } from '../auth/flows/admin-list-users.ts';
import { updateAnyUser } from '../auth/flows/admin-update-user.ts';
import { requireUser } from '../auth/flows/admin-user.ts';
import { listAudit } from '../auth/flows/audit-log.ts';
import { generateLink } from '../auth/flows/generate-link.ts';
import { invite } from '../auth/flows/invite.ts';
import { toUserJson } from '../auth/user-json.ts';
import type { AuthReply } from './auth-reply.ts';
import type { AuthRequest } from './auth-request.ts';
import { type AuthRow, json, row } from './auth-rows.ts';

/** The rows. */
export const adminRoutes: readonly AuthRow[] = [
  row('POST', '/invite', asAdmin((request, admin) => json(invite(request.flow, admin, request.body())))),
  row('GET', '/admin/users', asAdmin(({ flow, query }) => listUsers(flow, query))),
  row('POST', '/admin/users', asAdmin((request, admin) => json(createUser(request.flow, admin, request.body())))),
  row('GET', '/admin/users/:id', asAdmin(async ({ flow, path }) =>
    json(toUserJson(await requireUser(flow.services.database, path('id')))))),
  row('PUT', '/admin/users/:id', asAdmin((request, admin) =>
    json(updateAnyUser(request.flow, admin, request.path('id'), request.body())))),
  row('DELETE', '/admin/users/:id', asAdmin((request, admin) =>
    json(deleteAnyUser(request.flow, admin, request.path('id'), request.optionalBody())))),
  row('POST', '/admin/generate_link', asAdmin((request, admin) =>
    json(generateLink(request.flow, admin, request.body(), request.redirects.isAllowed)))),
  row('GET', '/admin/audit', asAdmin(({ flow, query }) => listAudit(flow, query))),
]; // biome-ignore format: one row per route

function asAdmin(run: (request: AuthRequest, admin: AdminBearer) => Promise<AuthReply>): AuthRow['run'] {
  return async (request) => run(request, await request.asAdmin());
}
