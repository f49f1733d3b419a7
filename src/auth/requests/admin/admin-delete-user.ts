/** Deletes a user: the row with everything that belongs to it, or all personal data in it while the id stays. */
import { randomUUID } from 'node:crypto';
import { type AnswerJson, flag, serializerOf } from '../../../shared/schema.ts';
import type { User } from '../../model/user.ts';
import { requireUser } from '../../steps/admin-user.ts';
import { type AuthContext, nowOf, type Transaction, transact } from '../../steps/auth-context.ts';
import { bodySchema, readFields } from '../../steps/request-body.ts';
import { type Admin, auditAdmin } from '../../store/audit.ts';
import { endFlows } from '../../store/flows.ts';
import { clearPending } from '../../store/one-time-tokens.ts';
import { endSessions } from '../../store/sessions.ts';
import { deleteUser, updateUser } from '../../store/users.ts';

/** Longest phone number of the column's format. */
const phoneLength = 15;

/** Members of the body. */
export const deleteUserBody = bodySchema({ should_soft_delete: flag });

/** The answer: an empty object. */
export const deletedSerializer = serializerOf<null>('AuthDeleted', {});

/** `DELETE /admin/users/{id}`. */
export async function deleteAnyUser(
  context: AuthContext,
  admin: Admin,
  id: string,
  body: unknown,
): Promise<AnswerJson> {
  const { should_soft_delete: isSoft } = readFields(body, deleteUserBody);
  await transact(context, [], async (tx) => {
    const user = await requireUser(tx, id, 'lock');
    const traits = { user_id: user.id, user_email: user.email ?? '', user_phone: user.phone ?? '' };
    await auditAdmin(tx, 'user_deleted', admin, traits);
    if (!isSoft) await deleteUser(tx, user.id);
    else if (user.deletedAt === null) await forget(tx, user);
  });
  return deletedSerializer.print(null);
}

async function forget(tx: Transaction, user: User): Promise<void> {
  const now = nowOf(tx);
  // Random text: a digest of an address or number would let readers of the row test guesses.
  const replacement = () => randomUUID().replaceAll('-', '');
  const concealed = <T extends string | null>(value: T) => (value ? replacement() : value);
  await clearPending(tx, user.id);
  await endFlows(tx, user.id);
  await endSessions(tx, user.id, 'global', null);
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
  await updateUser(tx, user.id, changes);
  await tx.query('delete from auth.mfa_factors f where f.user_id = $1::uuid', [user.id]);
  for (const { id } of user.identities) {
    const text = `update auth.identities set identity_data = '{}', provider_id = $2 where id = $1::uuid`;
    await tx.query(text, [id, replacement()]);
  }
}
