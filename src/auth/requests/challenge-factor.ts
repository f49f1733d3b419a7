/** Challenges a second factor. For a phone, sends the code. */
import { DatabaseError } from '../../postgres/database-error.ts';
import { type AnswerJson, anything, from, integer, serializerOf, text, uuid } from '../../shared/schema.ts';
import { type Time, toSeconds } from '../../shared/times.ts';
import { lockCurrentUser } from '../accounts/lock-current-user.ts';
import { makePhoneCode, type PhoneCode, sendPhoneCode } from '../messages/send-phone-code.ts';
import { AuthError } from '../model/auth-error.ts';
import type { Factor } from '../model/user.ts';
import type { UserBearer } from '../rules/bearer.ts';
import { type Channel, parseChannel } from '../sms/sms-provider.ts';
import { type AuthContext, limiterOf, nowOf, type Transaction, transact } from '../steps/auth-context.ts';
import { assertFactorBearer, type FactorBearer, requireFactor } from '../steps/own-factor.ts';
import { bodySchema, readFields } from '../steps/request-body.ts';
import { auditUser } from '../store/audit.ts';
import { challengeLifetimeMs, createChallenge } from '../store/factors.ts';
import { assertFirstRequest } from '../store/rate-limit.ts';

/** Members of the body; only a phone needs them. */
export const challengeBody = bodySchema({ channel: text });

interface Challenged {
  readonly id: string;
  readonly factor: Factor;
  readonly at: Time;
}

/** The answer. */
export const challengeSerializer = serializerOf<Challenged>('AuthFactorChallenge', {
  id: from(uuid, ({ id }) => id),
  type: from(anything({ enum: ['totp', 'phone'] }), ({ factor }) => factor.factorType),
  expires_at: from(integer, ({ at }) => toSeconds(at + challengeLifetimeMs)),
});

/** `POST /factors/{id}/challenge`. */
export async function challengeFactor(
  context: AuthContext,
  bearer: UserBearer,
  factorId: string,
  body: unknown,
): Promise<AnswerJson> {
  const asking = assertFactorBearer(bearer);
  const factor = requireFactor(asking.user, factorId);
  assertVerifyOn(context, factor);
  const channel =
    factor.factorType === 'phone' ? parseChannel(readFields(body, challengeBody).channel, context.config) : null;
  const asks = channel === null ? [] : (['send_sms'] as const);
  const attempt = () => transact(context, asks, (tx) => challenge(tx, asking, factor.id, channel));
  return challengeSerializer.print(await retryAtSameInstant(attempt));
}

/** @throws AuthError `mfa_totp_verify_not_enabled`, `mfa_phone_verify_not_enabled`, `mfa_webauthn_enroll_not_enabled` */
export function assertVerifyOn({ config }: AuthContext, { factorType }: Factor): void {
  if (factorType === 'totp' && !config.mfa_totp_verify_enabled) throw new AuthError('mfa_totp_verify_not_enabled');
  if (factorType === 'phone' && !config.mfa_phone_verify_enabled) throw new AuthError('mfa_phone_verify_not_enabled');
  if (factorType === 'webauthn') {
    throw new AuthError('mfa_webauthn_enroll_not_enabled', 'MFA verification is disabled for WebAuthn');
  }
}

/** @param channel Null for a TOTP app. */
async function challenge(
  tx: Transaction,
  asking: FactorBearer,
  factorId: string,
  channel: Channel | null,
): Promise<Challenged> {
  const { user } = await lockCurrentUser(tx, asking);
  const factor = requireFactor(user, factorId);
  const message = channel === null ? null : await makeMessage(tx, user.id, factor, channel);
  const id = await createChallenge(tx, { factorId: factor.id, ip: tx.client.ip, code: message?.code ?? null });
  if (id === null) throw new AuthError('mfa_factor_not_found');
  await auditUser(tx, 'challenge_created', user, { factor_id: factor.id, factor_status: factor.status });
  if (message !== null) await sendPhoneCode(tx, user, message);
  return { id, factor, at: nowOf(tx) };
}

async function makeMessage(tx: Transaction, userId: string, factor: Factor, channel: Channel): Promise<PhoneCode> {
  const { id, phone, status } = factor;
  const { mfa_phone_max_frequency: frequency, mfa_phone_otp_length: digits, mfa_phone_template: template } = tx.config;
  // Each network waits for its own codes: those of a thief, who has the password, are of no use to the owner.
  const asked = { kind: 'sms', name: `factor ${tx.network}`, address: id } as const;
  await assertFirstRequest(limiterOf(tx), asked, frequency);
  const ownerId = status === 'verified' ? userId : null;
  return makePhoneCode(tx, { phone, channel, digits, template, purpose: 'MFA' }, ownerId);
}

/** Enough attempts: that many taken microseconds in a row practically never occur. */
const maxAttempts = 20;

/** Retries with a new time: the database refuses two challenges at the same microsecond. */
async function retryAtSameInstant<T>(attempt: () => Promise<T>): Promise<T> {
  for (let count = 1; ; count++) {
    try {
      return await attempt();
    } catch (error) {
      const isTaken = error instanceof DatabaseError && error.constraint === 'mfa_factors_last_challenged_at_key';
      if (!isTaken || count === maxAttempts) throw error;
    }
  }
}
