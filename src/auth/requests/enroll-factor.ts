/** Enrolls a second factor: shows the secret of an app once, or stores a phone. It counts after its first code. */
import { randomBytes } from 'node:crypto';
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import { type AnswerJson, about, anything, from, optional, serializerOf, text, uuid } from '../../shared/schema.ts';
import { lockCurrentUser } from '../accounts/lock-current-user.ts';
import { parsePhone } from '../model/addresses.ts';
import { AuthError } from '../model/auth-error.ts';
import type { User } from '../model/user.ts';
import type { UserBearer } from '../rules/bearer.ts';
import { qrCodeSvg, toBase32, totpUri } from '../secrets/totp.ts';
import { type AuthContext, type Transaction, transact } from '../steps/auth-context.ts';
import { assertFactorBearer, assertNameFree, assertSecondFactorUsed, type FactorBearer } from '../steps/own-factor.ts';
import { bodySchema, needed, readFields } from '../steps/request-body.ts';
import { auditUser } from '../store/audit.ts';
import { deleteAbandonedFactors, deleteFactor, insertFactor, type NewFactor } from '../store/factors.ts';
import { reloadUser } from '../store/users.ts';

/** Limit of verified factors per user, whatever limit is configured for all factors. */
const maxVerifiedFactors = 10;

/** Length of a secret in bytes, the output size of SHA-1. */
const secretBytes = 20;

/** Longest issuer name in bytes. The QR code contains it twice and gets hard to scan if it is long. */
const maxIssuerBytes = 100;

/** Members of the body. */
export const enrollBody = bodySchema({
  factor_type: needed(about(text, { enum: ['totp', 'phone'] })),
  friendly_name: text,
  issuer: text,
  phone: text,
});

/** Of a TOTP app; the secret in base32. */
type Totp = Readonly<Record<'secret' | 'uri' | 'qrCode', string>>;

interface Enrolled {
  readonly id: string;
  readonly factor: NewFactor;
  /** Null for a phone. */
  readonly totp: Totp | null;
}

const totpSerializer = serializerOf<Totp>('AuthTotp', {
  qr_code: from(text, ({ qrCode }) => qrCode),
  secret: from(text, ({ secret }) => secret),
  uri: from(text, ({ uri }) => uri),
});

/** The answer; no other answer contains the secret. */
export const enrolledSerializer = serializerOf<Enrolled>('AuthEnrolledFactor', {
  id: from(uuid, ({ id }) => id),
  type: from(anything({ enum: ['totp', 'phone'] }), ({ factor }) => factor.factorType),
  friendly_name: from(text, ({ factor }) => factor.friendlyName),
  totp: from(optional(totpSerializer), ({ totp }) => totp ?? undefined),
  phone: from(optional(text), ({ factor }) => factor.phone ?? undefined),
});

/** `issuer` is empty for none. */
type Enrollment = Pick<NewFactor, 'factorType' | 'friendlyName' | 'phone'> & { readonly issuer: string };

/** `POST /factors`. */
export async function enrollFactor(context: AuthContext, bearer: UserBearer, body: unknown): Promise<AnswerJson> {
  const asking = assertFactorBearer(bearer);
  const request = readEnrollment(context.config, body);
  const made = request.factorType === 'totp' ? makeSecret(context.config, asking.user, request.issuer) : null;
  const inserted = await transact(context, [], (tx) => enroll(tx, asking, request, made));
  // Render the QR code last, because it takes longest: a user who has too many factors must not use up processor time
  // with it.
  const totp = made === null ? null : { ...made, qrCode: await qrCodeSvg(made.uri) };
  return enrolledSerializer.print({ ...inserted, totp });
}

function readEnrollment(config: AuthConfig, body: unknown): Enrollment {
  const { factor_type: type, friendly_name: name, issuer, phone } = readFields(body, enrollBody);
  const common = { friendlyName: name ?? '', issuer: issuer ?? '' };
  if (type === 'totp') {
    if (!config.mfa_totp_enroll_enabled) throw new AuthError('mfa_totp_enroll_not_enabled');
    if (Buffer.byteLength(common.issuer) > maxIssuerBytes) {
      throw new AuthError('validation_failed', `issuer can be at most ${maxIssuerBytes} bytes long`);
    }
    return { factorType: 'totp', ...common, phone: null };
  }
  if (type === 'phone') {
    if (!config.mfa_phone_enroll_enabled) throw new AuthError('mfa_phone_enroll_not_enabled');
    if (!phone) throw new AuthError('validation_failed', 'Phone number required to enroll Phone factor');
    return { factorType: 'phone', ...common, phone: parsePhone(phone) };
  }
  if (type === 'webauthn') throw new AuthError('mfa_webauthn_enroll_not_enabled');
  throw new AuthError('validation_failed', 'factor_type needs to be totp, phone, or webauthn');
}

function makeSecret(config: AuthConfig, user: User, issuer: string): Omit<Totp, 'qrCode'> {
  const secret = toBase32(randomBytes(secretBytes));
  const account = user.email ?? user.phone ?? user.id;
  return { secret, uri: totpUri(secret, { issuer: issuer || defaultIssuer(config), account }) };
}

/** The application's host, as users see it in their browser. Addresses of mobile apps have only a scheme. */
function defaultIssuer({ site_url: siteUrl }: AuthConfig): string {
  const { host, protocol } = new URL(siteUrl);
  return host || protocol.slice(0, -1);
}

/** @param totp Null for a phone. */
async function enroll(
  tx: Transaction,
  asking: FactorBearer,
  request: Enrollment,
  totp: Omit<Totp, 'qrCode'> | null,
): Promise<Omit<Enrolled, 'totp'>> {
  const { factorType, friendlyName, phone } = request;
  const { id: userId } = asking.user;
  const [{ session: own }, , cleared] = await Promise.all([
    lockCurrentUser(tx, asking),
    deleteAbandonedFactors(tx),
    reloadUser(tx, userId),
  ]);
  const user = await makeRoomForPhone(tx, cleared, phone);
  assertNameFree(user.factors, friendlyName);
  assertNotTooMany(user, tx.config);
  assertSecondFactorUsed(user, own);
  const factor = { userId, friendlyName, factorType, secret: totp?.secret ?? null, phone };
  const id = await insertFactor(tx, factor);
  await auditUser(tx, 'factor_in_progress', user, { factor_id: id, factor_type: factorType });
  return { id, factor };
}

/** Removes an earlier unverified factor with the number. @throws AuthError `mfa_verified_factor_exists` */
async function makeRoomForPhone(tx: Queryable, user: User, phone: string | null): Promise<User> {
  const known = phone === null ? undefined : user.factors.find((factor) => factor.phone === phone);
  if (known === undefined) return user;
  if (known.status === 'verified') {
    const message = 'A verified phone factor already exists, unenroll the existing factor to continue';
    throw new AuthError('mfa_verified_factor_exists', message);
  }
  await deleteFactor(tx, known.id);
  return { ...user, factors: user.factors.filter(({ id }) => id !== known.id) };
}

function assertNotTooMany({ factors }: User, config: AuthConfig): void {
  const verified = factors.filter(({ status }) => status === 'verified').length;
  if (factors.length < config.mfa_max_enrolled_factors && verified < maxVerifiedFactors) return;
  throw new AuthError('too_many_enrolled_mfa_factors');
}
