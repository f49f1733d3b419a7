/** The routes of the auth service for servers that have the service key, and for operators with an access token. */
import { about, integer, optional } from '../../shared/schema.ts';
import { toUserJson, userSerializer } from '../answers/user-json.ts';
import { createUser } from '../requests/admin/admin-create-user.ts';
import { deleteAnyUser, deletedSerializer, deleteUserBody } from '../requests/admin/admin-delete-user.ts';
import { listUsers, userListSerializer } from '../requests/admin/admin-list-users.ts';
import { recoverUser, recoverySentSerializer } from '../requests/admin/admin-recover.ts';
import { searchParameters } from '../requests/admin/admin-search-users.ts';
import { endedSerializer, endUserSessions, listSessions, sessionListSchema } from '../requests/admin/admin-sessions.ts';
import { unlinkAnyIdentity } from '../requests/admin/admin-unlink-identity.ts';
import { updateAnyUser } from '../requests/admin/admin-update-user.ts';
import { auditSchema, listAudit } from '../requests/admin/audit-log.ts';
import { generateLink, linkBody, linkSerializer } from '../requests/admin/generate-link.ts';
import { invite, inviteBody } from '../requests/admin/invite.ts';
import { unlinkedSerializer } from '../requests/unlink-identity.ts';
import { adminUserBody, requireUser } from '../steps/admin-user.ts';
import { type AuthRoutes, json, redirectQuery } from './auth-route-table.ts';

const count = optional(about(integer, { minimum: 1 }));
const pages = { page: about(count, 'Number of the page.'), per_page: about(count, 'Size of a page.') };

/** The routes. */
export const adminRoutes: AuthRoutes = {
  'POST /invite': {
    summary: 'Invite a user by email',
    access: 'admin',
    query: redirectQuery,
    body: [inviteBody],
    answer: userSerializer,
    run: ({ context, body }, admin) => json(invite(context, admin, body())),
  },
  'GET /admin/users': {
    summary: 'List the users',
    access: 'admin',
    query: {
      ...pages,
      sort: '`created_at asc` or `created_at desc`.',
      filter: 'Part of the address or the name.',
      ...searchParameters,
    },
    answer: userListSerializer,
    run: ({ context, query }) => listUsers(context, query),
  },
  'POST /admin/users': {
    summary: 'Create a user',
    access: 'admin',
    body: [adminUserBody],
    answer: userSerializer,
    run: ({ context, body }, admin) => json(createUser(context, admin, body())),
  },
  'GET /admin/users/:id': {
    summary: 'Read a user',
    access: 'admin',
    answer: userSerializer,
    run: async ({ context, path }) => json(toUserJson(await requireUser(context.services.database, path('id')))),
  },
  'PUT /admin/users/:id': {
    summary: 'Update a user',
    access: 'admin',
    body: [adminUserBody],
    answer: userSerializer,
    headers: { 'If-Match': 'The `updated_at` that you read: refuses with 412 if the user has changed since.' },
    run: ({ context, path, body, ifMatch }, admin) =>
      json(updateAnyUser(context, admin, path('id'), { body: body(), ifMatch })),
  },
  'DELETE /admin/users/:id': {
    summary: 'Delete a user',
    access: 'admin',
    body: [deleteUserBody],
    isBodyOptional: true,
    answer: deletedSerializer,
    run: ({ context, path, optionalBody }, admin) => json(deleteAnyUser(context, admin, path('id'), optionalBody())),
  },
  'POST /admin/users/:id/recover': {
    summary: 'Email a user a link to set a new password',
    access: 'admin',
    query: redirectQuery,
    answer: recoverySentSerializer,
    run: ({ context, path }, admin) => json(recoverUser(context, admin, path('id'))),
  },
  'GET /admin/users/:id/sessions': {
    summary: 'List the sessions of a user',
    access: 'admin',
    answer: sessionListSchema,
    run: ({ context, path }) => json(listSessions(context, path('id'))),
  },
  'DELETE /admin/users/:id/sessions': {
    summary: 'End all sessions of a user',
    access: 'admin',
    answer: endedSerializer,
    run: ({ context, path }, admin) => json(endUserSessions(context, admin, { userId: path('id'), sessionId: null })),
  },
  'DELETE /admin/users/:id/sessions/:session': {
    summary: 'End a session of a user',
    access: 'admin',
    answer: endedSerializer,
    run: ({ context, path }, admin) =>
      json(endUserSessions(context, admin, { userId: path('id'), sessionId: path('session') })),
  },
  'DELETE /admin/users/:id/identities/:identity': {
    summary: 'Unlink an identity of a user; ends all sessions',
    access: 'admin',
    answer: unlinkedSerializer,
    run: ({ context, path }, admin) =>
      json(unlinkAnyIdentity(context, admin, { userId: path('id'), identityId: path('identity') })),
  },
  'POST /admin/generate_link': {
    summary: 'Create an email link without sending it',
    access: 'admin',
    query: redirectQuery,
    body: [linkBody],
    answer: linkSerializer,
    run: ({ context, body, redirects }, admin) => json(generateLink(context, admin, body(), redirects.isAllowed)),
  },
  'GET /admin/audit': {
    summary: 'Read the audit log',
    access: 'admin',
    query: {
      ...pages,
      query: '`author`, `action` or `type`, a colon, and a part of it.',
      user: 'The id of the user whom the entries are about.',
    },
    answer: auditSchema,
    run: ({ context, query }) => listAudit(context, query),
  },
};
