/**
 * The last step of every successful sign-in: creates the session and its claims inside the transaction, and the answer
 * with the tokens after it. Access tokens are made nowhere else.
 */
import { toSeconds } from '../../shared/times.ts';
import type { User } from '../model/user.ts';
import { accessTokenClaims, type SessionExtras, type SessionTokens, toSessionJson } from '../secrets/access-token.ts';
import { createSession, type IssuedSession } from '../store/sessions.ts';
import { reloadUser } from '../store/users.ts';
import { type AuthContext, nowOf, type Transaction } from './auth-context.ts';
import { customizeClaims } from './custom-claims.ts';
import type { Parameters } from './redirect-target.ts';

/** A session with its user at sign-in, and the claims of its access token. */
export interface SignedIn extends IssuedSession, SessionTokens {}

/** The answer of a sign-in: tokens, times and the user. */
export type SessionJson = Readonly<Record<string, unknown>>;

/** Starts a session. @param method The authentication method, for the claim `amr`. */
export async function issueSession(tx: Transaction, userId: string, method: string): Promise<SignedIn> {
  const [issued, user] = await Promise.all([
    createSession(tx, { userId, method, client: tx.client }),
    reloadUser(tx, userId),
  ]);
  return completeSignIn(tx, { ...issued, user }, method);
}

/**
 * Makes the claims of a session's access token.
 *
 * @param method How the user signed in: a method of `amr`, or that of a refresh.
 * @param context The transaction of the sign-in, if there is one: it is rolled back if the hook refuses.
 * @throws AuthError The refusal or failure of the hook `custom_access_token`.
 */
export async function completeSignIn(
  context: AuthContext,
  issued: IssuedSession & { readonly user: User },
  method: string,
): Promise<SignedIn> {
  const { services, config } = context;
  const now = nowOf(context);
  const claims = accessTokenClaims(issued.user, issued.session, { issuer: services.issuer, config, now });
  return { ...issued, claims: await customizeClaims(context, claims, method), issuedAt: toSeconds(now) };
}

/** The parameters of a redirect with the session. */
export async function sessionParameters(context: AuthContext, signedIn: SignedIn): Promise<Parameters> {
  const answer = await sessionAnswer(context, signedIn);
  const names = ['access_token', 'expires_at', 'expires_in', 'refresh_token', 'token_type'];
  return Object.fromEntries(names.map((name) => [name, String(answer[name])]));
}

/** The answer of a sign-in. */
export function sessionAnswer(
  { services }: AuthContext,
  signedIn: SignedIn,
  extras?: SessionExtras,
): Promise<SessionJson> {
  return toSessionJson(signedIn, services.signer, extras);
}
