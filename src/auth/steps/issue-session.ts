/**
 * The end of every successful sign-in: a new session and what its access token says inside the transaction, the answer with
 * the tokens after it. Nobody makes an access token anywhere else.
 */

import { accessTokenClaims, type SessionExtras, type SessionTokens, toSessionJson } from '../secrets/access-token.ts';
import { createSession, type IssuedSession } from '../store/sessions.ts';
import { reloadUser } from '../store/users.ts';
import { toSeconds } from '../times.ts';
import type { User } from '../user.ts';
import { type AuthContext, nowOf, type Transaction } from './auth-context.ts';
import { customizeClaims } from './custom-claims.ts';
import type { Parameters } from './redirect-target.ts';

/** A session with its user as of the sign-in, and what its access token says. */
export interface SignedIn extends IssuedSession, SessionTokens {}

/** The answer of a sign-in: tokens, times and the user. */
export type SessionJson = Readonly<Record<string, unknown>>;

/** Starts a session. @param method How the user proved to be the one, for the claim `amr`. */
export async function issueSession(tx: Transaction, userId: string, method: string): Promise<SignedIn> {
  const [issued, user] = await Promise.all([
    createSession(tx, { userId, method, client: tx.client }),
    reloadUser(tx, userId),
  ]);
  return completeSignIn(tx, { ...issued, user }, method);
}

/**
 * Decides what the access token of a session says.
 *
 * @param method How the user signed in: a method of `amr`, or that of a refresh.
 * @param context The transaction of the sign-in, where there is one: nothing of it stays where the hook refuses.
 * @throws AuthError What the hook `custom_access_token` refused or failed with.
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

/** The same for an address that a browser is sent to. */
export async function sessionParameters(context: AuthContext, signedIn: SignedIn): Promise<Parameters> {
  const answer = await sessionAnswer(context, signedIn);
  const names = ['access_token', 'expires_at', 'expires_in', 'refresh_token', 'token_type'];
  return Object.fromEntries(names.map((name) => [name, String(answer[name])]));
}

/** The answer. */
export function sessionAnswer(
  { services }: AuthContext,
  signedIn: SignedIn,
  extras?: SessionExtras,
): Promise<SessionJson> {
  return toSessionJson(signedIn, services.signer, extras);
}
