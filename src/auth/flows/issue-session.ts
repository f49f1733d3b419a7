/**
 * The end of every successful sign-in: a new session inside the transaction, the answer with its tokens after it.
 */
import type { SystemSession } from '../../database/run-system.ts';
import { type SessionExtras, toSessionJson } from '../access-token.ts';
import { AuthError } from '../auth-error.ts';
import { createSession, type IssuedSession } from '../sessions.ts';
import type { User } from '../user.ts';
import { loadUser } from '../users.ts';
import { type Flow, nowOf } from './flow.ts';

/** A session with its user as of the sign-in. */
export interface SignedIn extends IssuedSession {
  readonly user: User;
}

/** The answer of a sign-in: tokens, times and the user. */
export type SessionJson = Readonly<Record<string, unknown>>;

/** Starts a session. @param method How the user proved to be the one, for the claim `amr`. */
export async function issueSession(
  session: SystemSession,
  flow: Flow,
  userId: string,
  method: string,
): Promise<SignedIn> {
  const { services, client } = flow;
  const [issued, user] = await Promise.all([
    createSession(session, { userId, method, client }, services),
    reloadUser(session, userId),
  ]);
  return { ...issued, user };
}

/** The answer. */
export function sessionAnswer(flow: Flow, { user, ...issued }: SignedIn, extras?: SessionExtras): Promise<SessionJson> {
  const { signer, issuer } = flow.services;
  return toSessionJson(user, issued, { signer, issuer, config: flow.config, now: nowOf(flow) }, extras);
}

/** The user as it is after what was written in this transaction. */
export async function reloadUser(session: SystemSession, userId: string): Promise<User> {
  const user = await loadUser(session, userId);
  // Only a user that somebody deletes at this moment is gone.
  if (user === null) throw new AuthError('user_not_found');
  return user;
}
