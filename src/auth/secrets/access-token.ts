/** The claims of an access token, and the answer with access and refresh token. */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import { tokenSeconds } from '../../config/auth/token-seconds.ts';
import { type AnswerJson, anything, from, integer, optional, serializerOf, text } from '../../shared/schema.ts';
import { type Time, toSeconds } from '../../shared/times.ts';
import { userSerializer } from '../answers/user-json.ts';
import { weakPasswordReasons } from '../model/auth-error.ts';
import type { Session, SessionLimits } from '../model/session.ts';
import { highestAal, type User } from '../model/user.ts';
import type { PasswordWeakness } from './password-policy.ts';
import type { TokenSigner } from './signing-keys.ts';

interface ClaimsContext {
  /** Claim `iss`: the configured issuer, else the public address of the auth service. */
  readonly issuer: string;
  readonly config: Pick<AuthConfig, 'jwt_exp'> & SessionLimits;
  readonly now: Time;
}

/** The claims of an access token. */
export interface AccessClaims {
  readonly [claim: string]: unknown;
  /** Seconds since the epoch. */
  readonly exp: number;
  readonly iat: number;
}

/** All claims, in the order of Supabase Auth. */
export function accessTokenClaims(user: User, session: Session, { issuer, config, now }: ClaimsContext): AccessClaims {
  const iat = toSeconds(now);
  return {
    iss: issuer,
    sub: user.id,
    aud: user.audience ?? '',
    exp: expiry(user, session, iat, config),
    iat,
    email: provenEmail(user),
    phone: user.phone ?? '',
    app_metadata: user.appMetadata,
    user_metadata: user.userMetadata,
    role: user.role ?? '',
    aal: session.aal,
    amr: session.amr.map(({ method, at }) => ({ method, timestamp: toSeconds(at) })),
    session_id: session.id,
    is_anonymous: user.isAnonymous,
  };
}

/** Policies trust this claim, so an address that nobody has proved is not in it, whoever may sign in with it. */
function provenEmail({ email, emailConfirmedAt }: User): string {
  return emailConfirmedAt === null ? '' : (email ?? '');
}

/** A session that lacks the user's second factor ends early; its token must not outlive it. */
function expiry(user: User, session: Session, iat: number, config: ClaimsContext['config']): number {
  const usual = iat + tokenSeconds(config);
  if (config.sessions_allow_low_aal <= 0 || session.aal >= highestAal(user)) return usual;
  const end = toSeconds((session.createdAt ?? iat * 1000) + config.sessions_allow_low_aal * 3_600_000);
  return Math.min(usual, end);
}

/** Further fields of an answer with a session. */
export interface SessionExtras {
  /** The provider's token, if a provider was used. */
  readonly providerToken?: string | null;
  readonly providerRefreshToken?: string | null;
  /** For the password grant only: how the password violates the policy, or null. */
  readonly weakPassword?: PasswordWeakness | null;
}

/** The result of a sign-in. */
export interface SessionTokens {
  /** The user at sign-in. */
  readonly user: User;
  readonly refreshToken: string;
  readonly claims: AccessClaims;
  /** When the claims were made, in seconds since the epoch; a hook may set another `iat`. */
  readonly issuedAt: number;
}

interface SessionFacts extends SessionTokens {
  readonly accessToken: string;
  readonly extras: SessionExtras;
}

const weakness = {
  type: ['object', 'null'],
  properties: { reasons: { type: 'array', items: { enum: weakPasswordReasons } }, message: { type: 'string' } },
  required: ['reasons', 'message'],
};

/** The answer of a sign-in. */
export const sessionSerializer = serializerOf<SessionFacts>('AuthSession', {
  access_token: from(text, ({ accessToken }) => accessToken),
  token_type: from(anything({ const: 'bearer' }), () => 'bearer'),
  expires_in: from(integer, ({ claims, issuedAt }) => claims.exp - issuedAt),
  expires_at: from(integer, ({ claims }) => claims.exp),
  refresh_token: from(text, ({ refreshToken }) => refreshToken),
  user: from(userSerializer, ({ user }) => user),
  provider_token: from(optional(text), ({ extras }) => extras.providerToken || undefined),
  provider_refresh_token: from(optional(text), ({ extras }) => extras.providerRefreshToken || undefined),
  weak_password: from(optional(anything(weakness)), ({ extras }) => extras.weakPassword),
});

/** The answer of every successful sign-in: tokens, times and the user. */
export async function toSessionJson(
  tokens: SessionTokens,
  signer: TokenSigner,
  extras: SessionExtras = {},
): Promise<AnswerJson> {
  return sessionSerializer.print({ ...tokens, accessToken: await signer.sign(tokens.claims), extras });
}
