/** Exchanges a refresh token for a new access token. */
import { text } from '../../shared/schema.ts';
import { AuthError } from '../model/auth-error.ts';
import { type AuthContext, transact } from '../steps/auth-context.ts';
import { completeSignIn, type SessionJson, sessionAnswer } from '../steps/issue-session.ts';
import { bodySchema, needed, readFields } from '../steps/request-body.ts';
import { refreshSession } from '../store/refresh.ts';

/** Members of the body. */
export const refreshBody = bodySchema({ refresh_token: needed(text) });

/** `POST /token?grant_type=refresh_token`. */
export async function signInWithRefreshToken(context: AuthContext, body: unknown): Promise<SessionJson> {
  const { refresh_token: token } = readFields(body, refreshBody);
  const outcome = await transact(context, [], (tx) => refreshSession(tx, token ?? ''));
  if (outcome instanceof AuthError) throw outcome;
  // The rotation is committed. If the hook refuses, the old refresh token may be used again, as after a lost answer.
  return sessionAnswer(context, await completeSignIn(context, outcome, 'token_refresh'));
}
