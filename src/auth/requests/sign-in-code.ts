/**
 * The second half of the PKCE flow: the code of a link and the verifier of its request give a session.
 */
import type { Queryable } from '../../postgres/system/queryable.ts';
import { AuthError } from '../auth-error.ts';
import { mergeWhatFits } from '../metadata.ts';
import { type AuthContext, nowOf, transact } from '../steps/auth-context.ts';
import { issueSession, reloadUser, type SessionJson, sessionAnswer } from '../steps/issue-session.ts';
import { type BodyShape, readMembers } from '../steps/members.ts';
import { userActor, writeAudit } from '../store/audit.ts';
import { exchangeFlowCode, type Withheld } from '../store/pkce.ts';
import { updateUser } from '../store/users.ts';
import { isBanned, type User } from '../user.ts';

/** Members of the body. */
export const codeBody = { auth_code: 'text', code_verifier: 'text' } as const satisfies BodyShape;

/** `POST /token?grant_type=pkce`. */
export async function signInWithCode(context: AuthContext, body: unknown): Promise<SessionJson> {
  const members = readMembers(body, codeBody);
  const given = { authCode: members.auth_code ?? '', codeVerifier: members.code_verifier ?? '' };
  const { signedIn, exchanged } = await transact(context, ['custom_access_token'], async (session) => {
    const exchanged = await exchangeFlowCode(session, given, nowOf(context));
    const user = await reloadUser(session, exchanged.userId);
    if (isBanned(user, nowOf(context))) throw new AuthError('user_banned');
    const traits = { provider_type: exchanged.providerType };
    await writeAudit(session, { action: 'login', actor: userActor(user), traits }, context.config, context.services);
    if (exchanged.withheld !== null) await giveBack(session, context, user, exchanged.withheld);
    return { exchanged, signedIn: await issueSession(session, context, user.id, exchanged.method) };
  });
  const { providerAccessToken, providerRefreshToken } = exchanged;
  return sessionAnswer(context, signedIn, { providerToken: providerAccessToken, providerRefreshToken });
}

/** The link may have been opened by anybody; the verifier shows that whoever signed up is here. */
function giveBack(session: Queryable, context: AuthContext, user: User, withheld: Withheld): Promise<void> {
  const userMetadata = mergeWhatFits(withheld.userMetadata, user.userMetadata);
  return updateUser(session, user.id, { passwordHash: withheld.passwordHash ?? '', userMetadata }, nowOf(context));
}
