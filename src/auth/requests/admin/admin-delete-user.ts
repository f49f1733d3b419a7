/**
 * The end of a user: the row with everything that belongs to it, or a row that keeps the id and nothing of the person.
 */
import type { Queryable } from '../../../postgres/system/queryable.ts';
import { type AnswerJson, answerShape } from '../../answer-shape.ts';
import type { AdminBearer } from '../../bearer.ts';
import { randomUuid } from '../../random.ts';
import { requireUser } from '../../steps/admin-user.ts';
import { type AuthContext, nowOf, transact } from '../../steps/auth-context.ts';
import { type BodyShape, readMembers } from '../../steps/members.ts';
import { adminActor, writeAudit } from '../../store/audit.ts';
import { clearTokens } from '../../store/one-time-tokens.ts';
import { endFlows } from '../../store/pkce.ts';
import { endSessions } from '../../store/sessions.ts';
import { deleteUser, updateUser } from '../../store/users.ts';
import type { User } from '../../user.ts';

/** Longest phone number of the column's format. */
const phoneLength = 15;

/** Members of the body. */
export const deleteUserBody = { should_soft_delete: 'flag' } as const satisfies BodyShape;

/** The answer: there is nothing left to tell. */
export const deletedShape = answerShape<null>('AuthDeleted', {});

/** `DELETE /admin/users/{id}`. */
export async function deleteAnyUser(
  context: AuthContext,
  { role }: AdminBearer,
  id: string,
  body: unknown,
): Promise<AnswerJson> {
  const { should_soft_delete: isSoft } = readMembers(body, deleteUserBody);
  const { config, services } = context;
  await transact(context, [], async (session) => {
    const user = await requireUser(session, id, 'lock');
    const traits = { user_id: user.id, user_email: user.email ?? '', user_phone: user.phone ?? '' };
    await writeAudit(session, { action: 'user_deleted', actor: adminActor(role), traits }, config, services);
    if (!isSoft) await deleteUser(session, user.id);
    else if (user.deletedAt === null) await forget(session, context, user);
  });
  return deletedShape.toJson(null);
}

async function forget(session: Queryable, context: AuthContext, user: User): Promise<void> {
  const now = nowOf(context);
  // Random: a digest of an address or number would let readers of the row test guesses.
  const replacement = () => randomUuid(context.services.random).replaceAll('-', '');
  const concealed = <T extends string | null>(value: T) => (value ? replacement() : value);
  await clearTokens(session, user.id, now);
  await endFlows(session, user.id, now);
  await endSessions(session, user.id, 'global', null);
  const changes = {
    email: concealed(user.email),
    phone: concealed(user.phone)?.slice(0, phoneLength) ?? null,
    emailChange: concealed(user.emailChange) ?? '',
    phoneChange: concealed(user.phoneChange)?.slice(0, phoneLength) ?? '',
    passwordHash: '',
    userMetadata: {},
    appMetadata: {},
    deletedAt: now,
  };
  await updateUser(session, user.id, changes, now);
  await session.query('delete from auth.mfa_factors f where f.user_id = $1::uuid', [user.id]);
  for (const { id } of user.identities) {
    const text = `update auth.identities set identity_data = '{}', provider_id = $2 where id = $1::uuid`;
    await session.query(text, [id, replacement()]);
  }
}
