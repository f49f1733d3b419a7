/** Requests of admins about the sessions of a user. Supabase Auth has none. */
import { type AnswerJson, from, listOf, optional, orNull, serializerOf, text, uuid } from '../../../shared/schema.ts';
import { isUuid } from '../../../shared/uuid.ts';
import { knownTime, timeOrNull } from '../../answers/answer-times.ts';
import { AuthError } from '../../model/auth-error.ts';
import type { Session } from '../../model/session.ts';
import { requireUser } from '../../steps/admin-user.ts';
import { type AuthContext, transact } from '../../steps/auth-context.ts';
import { type Admin, auditAdmin } from '../../store/audit.ts';
import { endLinking } from '../../store/flows.ts';
import { endChanges } from '../../store/one-time-tokens.ts';
import { endSessions, loadSessionsOf } from '../../store/sessions.ts';

const sessionSerializer = serializerOf<Session>('AuthAdminSession', {
  id: from(uuid, ({ id }) => id),
  created_at: from(knownTime, ({ createdAt }) => createdAt),
  refreshed_at: from(timeOrNull, ({ refreshedAt }) => refreshedAt),
  not_after: from(timeOrNull, ({ notAfter }) => notAfter),
  aal: from(text, ({ aal }) => aal),
  methods: from(listOf(text), ({ amr }) => amr.map(({ method }) => method)),
  user_agent: from(orNull(text), ({ userAgent }) => userAgent),
  ip: from(orNull(text), ({ ip }) => ip),
  tag: from(optional(text), ({ tag }) => tag ?? undefined),
});

/** The answer of the list. */
export const sessionListSchema = listOf(sessionSerializer);

/** The answer: an empty object. */
export const endedSerializer = serializerOf<null>('AuthSessionsEnded', {});

/** `GET /admin/users/{id}/sessions`: newest first. */
export async function listSessions({ services }: AuthContext, userId: string): Promise<readonly AnswerJson[]> {
  const { id } = await requireUser(services.database, userId);
  const sessions = [...(await loadSessionsOf(services.database, id))];
  sessions.sort((a, b) => (b.createdAt ?? 0) - (a.createdAt ?? 0));
  return sessions.map((session) => sessionSerializer.print(session));
}

/**
 * `DELETE /admin/users/{id}/sessions` and `…/sessions/{session_id}`: ends all sessions with pending changes of address
 * and number, or one.
 *
 * @param sessionId Null: all.
 */
export async function endUserSessions(
  context: AuthContext,
  admin: Admin,
  { userId, sessionId }: { readonly userId: string; readonly sessionId: string | null },
): Promise<AnswerJson> {
  if (sessionId !== null && !isUuid(sessionId)) {
    throw new AuthError('validation_failed', 'session_id must be an UUID', { status: 404 });
  }
  await transact(context, [], async (tx) => {
    const { id } = await requireUser(tx, userId, 'lock');
    const ended = await endSessions(tx, id, sessionId === null ? 'global' : 'local', sessionId);
    if (sessionId !== null && ended === 0) {
      throw new AuthError('session_not_found', 'The user has no such session', { status: 404 });
    }
    await endLinking(tx, id);
    if (sessionId === null) await endChanges(tx, id);
    await auditAdmin(tx, 'logout', admin, { user_id: id, ...(sessionId !== null && { session_id: sessionId }) });
  });
  return endedSerializer.print(null);
}
