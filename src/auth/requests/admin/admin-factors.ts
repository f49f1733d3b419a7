/** Requests of admins about the second factors of a user. */
import { type AnswerJson, listOf, text } from '../../../shared/schema.ts';
import { factorSerializer } from '../../answers/user-json.ts';
import { notifyOfAdminChange } from '../../messages/notify-user.ts';
import { parsePhone } from '../../model/addresses.ts';
import { AuthError } from '../../model/auth-error.ts';
import type { Factor, User } from '../../model/user.ts';
import { requireUser } from '../../steps/admin-user.ts';
import { type AuthContext, transact } from '../../steps/auth-context.ts';
import { assertNameFree, requireFactor } from '../../steps/own-factor.ts';
import { bodySchema, readFields } from '../../steps/request-body.ts';
import { type Admin, auditAdmin } from '../../store/audit.ts';
import { deleteFactor, type FactorChanges, updateFactor } from '../../store/factors.ts';
import { lowerSessions } from '../../store/sessions.ts';
import { reloadUser } from '../../store/users.ts';

/** The ids in the path of a factor. */
type FactorPath = Readonly<Record<'userId' | 'factorId', string>>;

/** The answer of the list. */
export const factorListSchema = listOf(factorSerializer);

/** `GET /admin/users/{id}/factors`. */
export async function listFactors({ services }: AuthContext, userId: string): Promise<readonly AnswerJson[]> {
  const { factors } = await requireUser(services.database, userId);
  return factors.map((factor) => factorSerializer.print(factor));
}

/** `DELETE /admin/users/{id}/factors/{factor_id}`. @returns The deleted factor. */
export async function deleteAnyFactor(context: AuthContext, admin: Admin, path: FactorPath): Promise<AnswerJson> {
  return transact(context, [], async (tx) => {
    const user = await requireUser(tx, path.userId, 'lock');
    const factor = requireFactor(user, path.factorId);
    await Promise.all([
      deleteFactor(tx, factor.id),
      lowerSessions(tx, factor.id),
      auditAdmin(tx, 'factor_deleted', admin, traitsOf(user, factor)),
    ]);
    if (factor.status === 'verified') {
      const { factorType } = factor;
      await notifyOfAdminChange(tx, { kind: 'mfa_factor_unenrolled', user, factorType });
    }
    return factorSerializer.print(factor);
  });
}

/** Fields of the body. */
export const updateFactorBody = bodySchema({ friendly_name: text, phone: text });

/** `PUT /admin/users/{id}/factors/{factor_id}`. @returns The updated factor. */
export async function updateAnyFactor(
  context: AuthContext,
  admin: Admin,
  path: FactorPath,
  body: unknown,
): Promise<AnswerJson> {
  const fields = readFields(body, updateFactorBody);
  const changes: FactorChanges = {
    ...(fields.friendly_name ? { friendlyName: fields.friendly_name } : {}),
    ...(fields.phone ? { phone: parsePhone(fields.phone) } : {}),
  };
  return transact(context, [], async (tx) => {
    const user = await requireUser(tx, path.userId, 'lock');
    const factor = requireFactor(user, path.factorId);
    assertChangeable(user, factor, changes);
    await updateFactor(tx, factor.id, changes);
    await auditAdmin(tx, 'factor_updated', admin, traitsOf(user, factor));
    return factorSerializer.print(requireFactor(await reloadUser(tx, user.id), factor.id));
  });
}

function assertChangeable({ factors }: User, factor: Factor, { friendlyName, phone }: FactorChanges): void {
  const others = factors.filter(({ id }) => id !== factor.id);
  if (friendlyName !== undefined) assertNameFree(others, friendlyName);
  if (phone === undefined) return;
  if (factor.factorType !== 'phone') {
    throw new AuthError('validation_failed', 'Only a factor of the type phone has a phone number');
  }
  if (!others.some((other) => other.phone === phone)) return;
  throw new AuthError('mfa_verified_factor_exists', 'A factor with this phone number for this user already exists');
}

function traitsOf(user: User, { id, factorType }: Factor) {
  return { user_id: user.id, factor_id: id, factor_type: factorType };
}
