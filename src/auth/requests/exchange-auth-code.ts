/** The second half of the PKCE flow: exchanges the code of a link and the verifier of its request for a session. */
import type { HookName } from '../../config/auth/auth-hook-fields.ts';
import { text } from '../../shared/schema.ts';
import { enterAgain } from '../accounts/claim-account.ts';
import { linkIdentity } from '../accounts/link-identity.ts';
import { AuthError } from '../model/auth-error.ts';
import { isBanned } from '../model/user.ts';
import { type AuthContext, nowOf, transact } from '../steps/auth-context.ts';
import { issueSession, type SessionJson, sessionAnswer } from '../steps/issue-session.ts';
import { bodySchema, needed, readFields } from '../steps/request-body.ts';
import { auditUser } from '../store/audit.ts';
import { exchangeFlowCode } from '../store/flows.ts';
import { linksIdentity } from '../store/provider-flows.ts';
import { reloadUser } from '../store/users.ts';

/** Fields of the body. */
export const codeBody = bodySchema({ auth_code: needed(text), code_verifier: needed(text) });

/** `POST /token?grant_type=pkce`. */
export async function signInWithCode(context: AuthContext, body: unknown): Promise<SessionJson> {
  const fields = readFields(body, codeBody);
  const given = { authCode: fields.auth_code ?? '', codeVerifier: fields.code_verifier ?? '' };
  const mayEmail = await linksIdentity(context.services.database, given.authCode);
  const asks: readonly HookName[] = ['custom_access_token', ...(mayEmail ? (['send_email'] as const) : [])];
  const arrival = await transact(context, asks, async (tx) => {
    const exchanged = await exchangeFlowCode(tx, given);
    if (exchanged.linked !== null) {
      // The verifier proves that the client is the one whose session asked.
      const { refusal } = await linkIdentity(tx, exchanged.linked, exchanged.userId);
      // Returned, so that the link is committed: the address of its identity is still to be confirmed.
      if (refusal !== null) return refusal;
    }
    const user = await reloadUser(tx, exchanged.userId);
    if (isBanned(user, nowOf(context))) throw new AuthError('user_banned');
    await auditUser(tx, 'login', user, { provider_type: exchanged.providerType });
    if (exchanged.withheld !== null) await enterAgain(tx, user, exchanged.withheld);
    return { exchanged, signedIn: await issueSession(tx, user.id, exchanged.method) };
  });
  if (arrival instanceof AuthError) throw arrival;
  const { exchanged, signedIn } = arrival;
  const { providerAccessToken, providerRefreshToken } = exchanged;
  return sessionAnswer(context, signedIn, { providerToken: providerAccessToken, providerRefreshToken });
}
