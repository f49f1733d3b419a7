/** Handles the return from a provider: redirects the browser with a session, a code or an error. */
import { isObject, parseJson } from '../../shared/json.ts';
import { acceptInvitation } from '../accounts/accept-invitation.ts';
import { askedFor, type ExternalEntry, enterExternally } from '../accounts/external-account.ts';
import { assertLinkable, linkIdentity } from '../accounts/link-identity.ts';
import { AuthError } from '../model/auth-error.ts';
import { ProviderError } from '../providers/provider-error.ts';
import { requireBrowserProvider } from '../providers/provider-settings.ts';
import type { ExternalSignIn } from '../providers/provider-sign-in.ts';
import type { RedirectRules } from '../rules/redirect.ts';
import { type AuthContext, nowOf, onceMore, type Transaction, transact } from '../steps/auth-context.ts';
import { issueSession, type SignedIn, sessionParameters } from '../steps/issue-session.ts';
import { errorParameters, type Parameters, withFragment, withQuery } from '../steps/redirect-target.ts';
import {
  completeProviderFlow,
  deleteProviderFlow,
  findProviderFlow,
  keepIdentity,
  type ProviderFlow,
  takeProviderSecrets,
} from '../store/provider-flows.ts';
import { callbackOf, toAuthError } from './authorize.ts';

/** Parameters, in the query or as a form. */
export const callbackQuery = {
  state: 'What the sign-in was begun with.',
  code: 'Of the provider.',
  iss: 'How the provider names itself.',
  error: 'Of the provider.',
  error_description: 'Of the provider.',
  user: 'Name of the user as JSON, where the provider tells it to the browser alone.',
} as const;

/** Where the browser goes next. */
interface CallbackTarget {
  /** 303 if the sign-in is unknown, otherwise 302. */
  readonly status: 302 | 303;
  readonly location: string;
  /** The error, which the URL states as far as clients may read it; null for none. */
  readonly refusal: unknown;
}

/**
 * `GET` and `POST /callback`. Never throws: in every case the browser goes to the application.
 *
 * @param rules `isOwn`: whether this browser started the sign-in with that state.
 */
export async function finishSignIn(
  context: AuthContext,
  given: URLSearchParams,
  { isAllowed, isOwn }: Pick<RedirectRules, 'isAllowed'> & { readonly isOwn: (state: string) => boolean },
): Promise<CallbackTarget> {
  let begun: ProviderFlow;
  try {
    begun = await findProviderFlow(context.services.database, given.get('state') ?? '', nowOf(context));
    // Use nothing up: the browser that started the sign-in may still finish.
    if (!isOwn(begun.id)) throw new AuthError('bad_oauth_state', 'The sign-in was begun in another browser');
  } catch (refusal) {
    return { status: 303, location: withQuery(context.config.site_url, errorParameters(refusal)), refusal };
  }
  // The allow list may have changed since.
  const isGood = begun.redirectTo !== null && isAllowed(begun.redirectTo);
  const own = { ...context, redirectTo: isGood ? (begun.redirectTo ?? '') : context.config.site_url };
  try {
    return { status: 302, location: await follow(own, begun, given), refusal: null };
  } catch (refusal) {
    const parameters = refusal instanceof ProviderRefusal ? refusal.parameters : errorParameters(refusal);
    const location = withFragment(withQuery(own.redirectTo, parameters), { ...parameters, sb: '' });
    return { status: 302, location, refusal };
  }
}

/** The provider refused; the application gets the provider's words. */
export class ProviderRefusal extends Error {
  override readonly name = 'ProviderRefusal';
  readonly parameters: Parameters;

  constructor(error: string, description: string | null) {
    super('The provider refused the sign-in.');
    const short = (text: string) => text.slice(0, 1000);
    this.parameters = { error: short(error), ...(description && { error_description: short(description) }) };
  }
}

async function follow(context: AuthContext, begun: ProviderFlow, given: URLSearchParams): Promise<string> {
  const signIn = await askProvider(context, begun, given);
  if (signIn.user.email === null && !begun.isEmailOptional) {
    throw new AuthError('unexpected_failure', 'Error getting user email from external provider');
  }
  const arrival = await onceMore(() =>
    transact(context, askedFor(context, signIn.user), (tx) => arrive(tx, begun, signIn)),
  );
  if (arrival instanceof AuthError) throw arrival;
  if (typeof arrival === 'string') return withQuery(context.redirectTo, { code: arrival });
  const parameters = await sessionParameters(context, arrival);
  const { accessToken, refreshToken } = signIn;
  const tokens = { provider_token: accessToken, ...(refreshToken !== '' && { provider_refresh_token: refreshToken }) };
  return withFragment(context.redirectTo, { ...parameters, ...tokens, sb: '' });
}

async function askProvider(context: AuthContext, begun: ProviderFlow, given: URLSearchParams): Promise<ExternalSignIn> {
  const { services, config } = context;
  // Take the secrets first: an answer is processed once, whatever it says.
  const secrets = await transact(context, [], (tx) => takeProviderSecrets(tx, begun));
  const error = given.get('error');
  if (error) throw new ProviderRefusal(error, given.get('error_description'));
  const code = given.get('code');
  if (!code) throw new AuthError('bad_oauth_callback', 'OAuth callback with missing authorization code');
  const settings = requireStillServed(config, begun);
  const answer = {
    code,
    ...secrets,
    issuer: given.get('iss'),
    redirectUri: callbackOf(context, settings),
    name: readName(given.get('user')),
  };
  try {
    return await services.providers.finish(settings, answer);
  } catch (error) {
    if (!(error instanceof ProviderError) || error.failure === 'unreachable') throw toAuthError(error, begun.provider);
    const message = `Unable to exchange external code: ${code.slice(0, 4)}`;
    throw new AuthError('unexpected_failure', message, { cause: error });
  }
}

function requireStillServed(config: AuthContext['config'], { provider }: ProviderFlow) {
  try {
    return requireBrowserProvider(config, provider);
  } catch (error) {
    if (!(error instanceof AuthError)) throw error;
    throw new AuthError('oauth_provider_not_supported', error.message, { cause: error });
  }
}

/** `{"name": {"firstName": …, "lastName": …}}`. It is not signed, so it is used only as a name. */
function readName(text: string | null): string | null {
  const json = text === null ? null : parseJson(text);
  if (!isObject(json) || !isObject(json.name)) return null;
  const { firstName, lastName } = json.name;
  return [firstName, lastName].filter((part) => typeof part === 'string' && part !== '').join(' ') || null;
}

/** A session, the code of the PKCE flow, or a refusal. A refusal is a result, so that the changes are committed. */
type Arrival = SignedIn | string | AuthError;

async function arrive(tx: Transaction, begun: ProviderFlow, signIn: ExternalSignIn): Promise<Arrival> {
  const { user: external, accessToken, refreshToken } = signIn;
  const tokens = { accessToken, refreshToken };
  const { linkingTargetId } = begun;
  if (begun.isPkce && linkingTargetId !== null) {
    // Anybody may have opened this in their browser. The code is exchanged, and the identity linked, by who asked.
    await assertLinkable(tx, external, linkingTargetId);
    await keepIdentity(tx, begun, external);
    return completeProviderFlow(tx, begun, { userId: linkingTargetId, ...tokens });
  }
  const { userId, refusal } = await findAccount(tx, begun, signIn);
  if (refusal !== null) return refusal;
  if (begun.isPkce) return completeProviderFlow(tx, begun, { userId, ...tokens });
  await deleteProviderFlow(tx, begun);
  return issueSession(tx, userId, 'oauth');
}

async function findAccount(
  tx: Transaction,
  { inviteToken, linkingTargetId, isEmailOptional }: ProviderFlow,
  { user: external }: ExternalSignIn,
): Promise<ExternalEntry> {
  if (linkingTargetId !== null) return linkIdentity(tx, external, linkingTargetId);
  if (inviteToken === null) return enterExternally(tx, external, isEmailOptional);
  return { userId: await acceptInvitation(tx, external, inviteToken), refusal: null };
}
