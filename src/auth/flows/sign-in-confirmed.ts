/**
 * The verification that happens most: a confirmed user signs in with the code or the link of an email.
 *
 * The token is read without a lock, then used up in one statement, which shares its round trip and its commit with others and
 * does nothing where somebody else is at the same user. Whatever is less plain is left to the transaction of verify.ts: first
 * confirmations, changes of an address, providers to be noted, and hooks, which may refuse before anything is committed.
 */
import type { SystemSession } from '../../database/run-system.ts';
import { loadSqlFile } from '../../database/sql-file.ts';
import { toAuditRows, userActor } from '../audit.ts';
import { hasSyncedProviders } from '../identities.ts';
import type { PresentedToken } from '../one-time-tokens.ts';
import { makeSession } from '../sessions.ts';
import { toTimestamp } from '../times.ts';
import { type Flow, nowOf, timeLeftMs } from './flow.ts';
import { completeSignIn, type SignedIn } from './issue-session.ts';
import type { VerificationType } from './verification-types.ts';

const signInStatement = loadSqlFile('auth/sign-in-with-token.sql');
const method = 'otp';

/**
 * Signs the user in, where it is as plain as that.
 *
 * @param find Finds and checks the token, without a lock. @throws AuthError What it throws is the answer.
 * @returns Null where nothing was done.
 */
export async function signInConfirmed(
  flow: Flow,
  type: VerificationType,
  find: (database: SystemSession) => Promise<PresentedToken>,
): Promise<SignedIn | null> {
  const { services, config, client } = flow;
  const mayBePlain = type === 'email' || type === 'magiclink' || type === 'recovery';
  if (!mayBePlain || config.hook_custom_access_token_enabled) return null;
  const { user, type: tokenType } = await find(services.database.shared);
  const isPlain = tokenType === 'recovery_token' && user.emailConfirmedAt !== null && hasSyncedProviders(user);
  if (!isPlain) return null;
  timeLeftMs(flow);
  const now = nowOf(flow);
  const { session, refreshToken, methodId } = makeSession({ userId: user.id, method, client }, services);
  const done = await services.database.shared.query(signInStatement, [
    user.id,
    user.recoveryToken,
    toTimestamp(now),
    session.id,
    session.userAgent,
    session.ip,
    refreshToken,
    methodId,
    method,
    toAuditRows([{ action: 'login', actor: userActor(user) }], config, services),
  ]);
  if (done.length === 0) return null;
  const signedIn = { ...user, recoveryToken: '', lastSignInAt: now, updatedAt: now };
  return completeSignIn(null, flow, { session, refreshToken, user: signedIn }, method);
}
