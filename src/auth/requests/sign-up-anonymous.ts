/**
 * Sign-in of somebody who does not say who they are: a new user without address and identity, and a session.
 */
import { AuthError } from '../auth-error.ts';
import { randomUuid } from '../random.ts';
import { type AuthContext, transact } from '../steps/auth-context.ts';
import { askBeforeUserCreated } from '../steps/before-user-created.ts';
import { issueSession, type SessionJson, sessionAnswer } from '../steps/issue-session.ts';
import { type BodyShape, readMembers } from '../steps/members.ts';
import { insertUser } from '../store/users.ts';

/** Members of the body. */
export const anonymousBody = { data: 'metadata' } as const satisfies BodyShape;

/** `POST /signup` without an address. */
export async function signUpAnonymously(context: AuthContext, body: unknown): Promise<SessionJson> {
  const { config, services, audience } = context;
  const { data } = readMembers(body, anonymousBody);
  if (!config.external_anonymous_users_enabled) throw new AuthError('anonymous_provider_disabled');
  if (config.disable_signup) throw new AuthError('signup_disabled');
  const nobody = { email: null, phone: null, passwordHash: null, appMetadata: {}, isAnonymous: true };
  const signedIn = await transact(context, ['before_user_created', 'custom_access_token'], async (tx) => {
    const id = randomUuid(services.random);
    const facts = { ...nobody, id, audience, role: services.userRole, userMetadata: data ?? {} };
    await askBeforeUserCreated(tx, facts);
    const user = await insertUser(tx, facts);
    return issueSession(tx, user.id, 'anonymous');
  });
  return sessionAnswer(context, signedIn);
}
