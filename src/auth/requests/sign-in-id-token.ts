/** Signs in, or links an identity, with an ID token that a program of the user got from a provider. */
import { createHash } from 'node:crypto';
import { sameText } from '../../shared/same-text.ts';
import { flag, text } from '../../shared/schema.ts';
import { askedFor, enterExternally } from '../accounts/external-account.ts';
import { linkIdentity } from '../accounts/link-identity.ts';
import { assertManualLinking, assertMayLink, lockCurrentUser } from '../accounts/lock-current-user.ts';
import { OAuthStyleError } from '../model/auth-error.ts';
import { type AcceptedIssuer, acceptIssuer } from '../providers/accepted-issuer.ts';
import { type ExternalUser, toExternalUser } from '../providers/external-user.ts';
import type { Claims } from '../providers/plain-provider.ts';
import { ProviderError } from '../providers/provider-error.ts';
import { verifyIdToken } from '../providers/verify-id-token.ts';
import type { UserBearer } from '../rules/bearer.ts';
import { type AuthContext, nowOf, onceMore, transact } from '../steps/auth-context.ts';
import { issueSession, type SessionJson, sessionAnswer } from '../steps/issue-session.ts';
import { bodySchema, needed, readFields } from '../steps/request-body.ts';
import { toAuthError } from './authorize.ts';

/** Fields of the body. */
export const idTokenBody = bodySchema({
  provider: text, id_token: needed(text), access_token: text, nonce: text, client_id: text, issuer: text,
  link_identity: flag,
}); // biome-ignore format: a list of fields

/** Authenticates the user who asks to link. @throws AuthError */
type AskUser = () => Promise<{ readonly bearer: UserBearer; readonly context: AuthContext }>;

/** `POST /token?grant_type=id_token`. */
export async function signInWithIdToken(given: AuthContext, body: unknown, askUser: AskUser): Promise<SessionJson> {
  const fields = readFields(body, idTokenBody);
  const { id_token: idToken, provider, client_id: clientId, issuer } = fields;
  if (!idToken) throw idTokenError('id_token required');
  if (!provider && (!clientId || !issuer)) throw idTokenError('provider or client_id and issuer required');
  if (fields.link_identity) assertManualLinking(given);
  const asking = fields.link_identity ? await askUser() : null;
  const context = asking?.context ?? given;
  const origin = { provider: provider ?? '', clientId: clientId ?? '', issuer: issuer ?? '', idToken };
  const accepted = acceptIssuer(context.config, origin);
  const token = { idToken, accessToken: fields.access_token || null, nonce: fields.nonce ?? '' };
  const external = await readToken(context, accepted, token);
  const arrival = await onceMore(() =>
    transact(context, askedFor(context, external), async (tx) => {
      const { isEmailOptional } = accepted;
      const { userId, refusal } =
        asking === null
          ? await enterExternally(tx, external, isEmailOptional)
          : await linkIdentity(tx, external, assertMayLink(await lockCurrentUser(tx, asking.bearer)).user.id);
      return { refusal, signedIn: refusal === null ? await issueSession(tx, userId, 'oauth') : null };
    }),
  );
  if (arrival.signedIn === null) throw arrival.refusal;
  return sessionAnswer(context, arrival.signedIn);
}

type GivenToken = Omit<Parameters<typeof verifyIdToken>[1], 'issuer'> & { readonly nonce: string };

async function readToken(context: AuthContext, accepted: AcceptedIssuer, given: GivenToken): Promise<ExternalUser> {
  const claims = await verify(context, accepted, given);
  if (typeof claims.sub !== 'string' || claims.sub === '') throw idTokenError('Missing sub claim in id_token');
  const audiences = [claims.aud ?? []].flat().map(String);
  // With several audiences, `azp` names the client that requested the token (OpenID Connect Core 1.0, 3.1.3.7).
  const parties = audiences.length > 1 ? [claims.azp] : audiences;
  const isOurs = (client: unknown) => accepted.clientIds.some((id) => id === client);
  if (!audiences.some(isOurs) || !parties.some(isOurs)) {
    throw idTokenError(`Unacceptable audience in id_token: [${audiences.join(' ').slice(0, 500)}]`);
  }
  if (!accepted.skipsNonce) assertNonce(claims, given.nonce);
  return toExternalUser(accepted.source, claims);
}

async function verify(
  context: AuthContext,
  { address, source }: AcceptedIssuer,
  { idToken, accessToken }: GivenToken,
): Promise<Claims> {
  try {
    const issuer = await context.services.providers.findIssuer(address);
    // The issuer as it spells itself: some omit the final slash.
    const { issuer: itself } = issuer.configuration.serverMetadata();
    return await verifyIdToken(issuer, { idToken, issuer: itself, accessToken }, nowOf(context));
  } catch (error) {
    if (!(error instanceof ProviderError) || error.failure === 'unreachable') throw toAuthError(error, source.provider);
    throw idTokenError('Bad ID token', error);
  }
}

/**
 * The token contains the digest of the nonce, the request the nonce itself. A stolen token alone is therefore useless.
 */
function assertNonce({ nonce: digest }: Claims, nonce: string): void {
  if (Boolean(digest) !== (nonce !== '')) {
    throw idTokenError('Passed nonce and nonce in id_token should either both exist or not.');
  }
  if (nonce === '') return;
  const computed = createHash('sha256').update(nonce).digest('hex');
  if (typeof digest !== 'string' || !sameText(computed, digest)) {
    throw new OAuthStyleError('invalid nonce', 'Nonces mismatch');
  }
}

function idTokenError(description: string, cause?: unknown): OAuthStyleError {
  return new OAuthStyleError('invalid request', description, cause);
}
