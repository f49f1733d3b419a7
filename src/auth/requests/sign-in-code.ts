/**
 * The second half of the PKCE flow: the code of a link and the verifier of its request give a session.
 */
import type { SystemSession } from '../../postgres/system/system-session.ts';
import { AuthError } from '../auth-error.ts';
import { mergeWhatFits } from '../metadata.ts';
import { type Flow, nowOf } from '../steps/flow.ts';
import { issueSession, reloadUser, type SessionJson, sessionAnswer, transactSignIn } from '../steps/issue-session.ts';
import { type BodyShape, readMembers } from '../steps/members.ts';
import { userActor, writeAudit } from '../store/audit.ts';
import { exchangeFlowCode, type Withheld } from '../store/pkce.ts';
import { updateUser } from '../store/users.ts';
import { isBanned, type User } from '../user.ts';

/** Members of the body. */
export const codeBody = { auth_code: 'text', code_verifier: 'text' } as const satisfies BodyShape;

/** `POST /token?grant_type=pkce`. */
export async function signInWithCode(flow: Flow, body: unknown): Promise<SessionJson> {
  const members = readMembers(body, codeBody);
  const given = { authCode: members.auth_code ?? '', codeVerifier: members.code_verifier ?? '' };
  const { signedIn, exchanged } = await transactSignIn(flow, async (session) => {
    const exchanged = await exchangeFlowCode(session, given, nowOf(flow));
    const user = await reloadUser(session, exchanged.userId);
    if (isBanned(user, nowOf(flow))) throw new AuthError('user_banned');
    const traits = { provider_type: exchanged.providerType };
    await writeAudit(session, { action: 'login', actor: userActor(user), traits }, flow.config, flow.services);
    if (exchanged.withheld !== null) await giveBack(session, flow, user, exchanged.withheld);
    return { exchanged, signedIn: await issueSession(session, flow, user.id, exchanged.method) };
  });
  const { providerAccessToken, providerRefreshToken } = exchanged;
  return sessionAnswer(flow, signedIn, { providerToken: providerAccessToken, providerRefreshToken });
}

/** The link may have been opened by anybody; the verifier shows that whoever signed up is here. */
function giveBack(session: SystemSession, flow: Flow, user: User, withheld: Withheld): Promise<void> {
  const userMetadata = mergeWhatFits(withheld.userMetadata, user.userMetadata);
  return updateUser(session, user.id, { passwordHash: withheld.passwordHash ?? '', userMetadata }, nowOf(flow));
}
