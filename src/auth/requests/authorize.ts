/** Starts a sign-in at a provider: the URL for the browser, and the state stored until it returns. */
import { randomBytes } from 'node:crypto';
import { findInvited } from '../accounts/accept-invitation.ts';
import { targetNotFound } from '../accounts/link-identity.ts';
import { assertManualLinking, assertMayLink } from '../accounts/lock-current-user.ts';
import { AuthError } from '../model/auth-error.ts';
import { ProviderError } from '../providers/provider-error.ts';
import { type ProviderSettings, requireBrowserProvider } from '../providers/provider-settings.ts';
import type { UserBearer } from '../rules/bearer.ts';
import { type AuthContext, nowOf, transact } from '../steps/auth-context.ts';
import { errorParameters, withQuery } from '../steps/redirect-target.ts';
import { parsePkce } from '../store/flows.ts';
import {
  createProviderFlow,
  findProviderFlow,
  type NewProviderFlow,
  type ProviderSecrets,
  readProviderSecrets,
} from '../store/provider-flows.ts';
import { loadUser } from '../store/users.ts';

/** Our own parameters of a sign-in; all others are passed to the provider. */
export const signInQuery = {
  provider: 'Name of the provider.',
  scopes: 'What else to ask the provider for, separated by blanks.',
  redirect_to: 'Where the sign-in leads, if the configuration allows it.',
  code_challenge: 'Of the PKCE flow; without it the session comes with the redirect.',
  code_challenge_method: '`s256` or `plain`.',
  invite_token: 'Hash of the link of an invitation that is accepted in this way.',
  flow: 'What `/user/identities/authorize` has begun.',
} as const;

const { invite_token: _invitation, flow: _flow, ...common } = signInQuery;

/** The parameters of linking. */
export const linkingQuery = { ...common, skip_http_redirect: '`true`: the address comes as an answer.' } as const;

/** Parameters in lower case that an application may not pass: ours, and those that change how the provider answers. */
const reserved = new Set([
  ...Object.keys({ ...signInQuery, ...linkingQuery }), 'apikey', 'client_id', 'client_secret', 'redirect_uri', 'response_type', 'state',
  'code_verifier', 'request', 'request_uri',
]); // biome-ignore format: a list of names

/** What follows the start of a sign-in. */
export interface StartedSignIn {
  /** The URL at the provider; of the application after a refusal. */
  readonly url: string;
  /** Null if no sign-in was started. */
  readonly state: string | null;
  /** The provider answers with a form post from its own page. */
  readonly answersByForm: boolean;
}

/** What a page asks before an identity is linked, because another person may have sent the browser here. */
export interface LinkingQuestion {
  /** The linking that goes on after a yes. */
  readonly flow: string;
  readonly provider: string;
  /** Email address or phone number of the account that gets the identity; null if it has neither. */
  readonly account: string | null;
  /** Addresses that follow. */
  readonly leadsTo: readonly string[];
}

/** `GET /authorize`. @param isOwn As in `goOn`. @throws AuthError */
export async function startSignIn(
  context: AuthContext,
  query: URLSearchParams,
  isOwn: (state: string) => boolean,
): Promise<StartedSignIn | LinkingQuestion> {
  if (query.get('flow')) return continueLinking(context, query, isOwn);
  return start(context, query, { inviteToken: query.get('invite_token') || null, linkingTargetId: null });
}

/** The second step of linking. @param isOwn As in `goOn`. */
export function continueLinking(
  context: AuthContext,
  query: URLSearchParams,
  isOwn: (state: string) => boolean,
): Promise<StartedSignIn | LinkingQuestion> {
  return goOn(context, query, isOwn).catch((refusal: unknown) => {
    if (!(refusal instanceof AuthError)) throw refusal;
    // Answer with a redirect, because a person waits for a page.
    const url = withQuery(context.config.site_url, errorParameters(refusal));
    return { url, state: null, answersByForm: false };
  });
}

/**
 * `GET /user/identities/authorize`. Programs send this request with a token, and from another site its answer sets no
 * cookie in the browser. The browser therefore goes to `/authorize` first, and from there to the provider.
 *
 * @throws AuthError also `manual_linking_disabled`, `insufficient_aal`
 */
export async function startLinking(
  context: AuthContext,
  bearer: UserBearer,
  query: URLSearchParams,
): Promise<StartedSignIn & { readonly state: string }> {
  assertManualLinking(context);
  const { user } = assertMayLink(bearer);
  const started = await start(context, query, { inviteToken: null, linkingTargetId: user.id });
  const own = new URLSearchParams([...query].filter(([name]) => !leftOut.has(name)));
  own.set('flow', started.state);
  return { ...started, url: `${context.authUrl}/authorize?${own}` };
}

/** Parameters that the flow has stored already, and secrets. */
const leftOut = new Set([
  'apikey', 'redirect_to', 'code_challenge', 'code_challenge_method', 'invite_token', 'skip_http_redirect', 'flow',
]); // biome-ignore format: a list of names

/**
 * Starts nothing new. In the PKCE flow any browser may go on, because only the verifier links the identity. Otherwise the
 * callback links it, so a browser that is not known to belong to who asked has to agree.
 *
 * @param isOwn Whether the browser has the cookie of the request that asked, or has agreed.
 */
async function goOn(
  context: AuthContext,
  query: URLSearchParams,
  isOwn: (state: string) => boolean,
): Promise<StartedSignIn | LinkingQuestion> {
  const { database } = context.services;
  const begun = await findProviderFlow(database, query.get('flow') ?? '', nowOf(context));
  const { id: state, linkingTargetId, provider } = begun;
  const settings = requireBrowserProvider(context.config, query.get('provider') ?? '');
  const secrets = await readProviderSecrets(database, begun);
  if (linkingTargetId === null || provider !== settings.name || secrets === null) {
    throw new AuthError('bad_oauth_state', 'OAuth state not found or expired');
  }
  if (begun.isPkce || isOwn(state)) return leadToProvider(context, settings, query, { state, ...secrets });
  const user = await loadUser(database, linkingTargetId);
  if (user === null) throw targetNotFound();
  const account = user.email || user.phone || null;
  return { flow: state, provider, account, leadsTo: [settings.address, begun.redirectTo ?? context.config.site_url] };
}

async function start(
  context: AuthContext,
  query: URLSearchParams,
  purpose: Pick<NewProviderFlow, 'inviteToken' | 'linkingTargetId'>,
): Promise<StartedSignIn & { readonly state: string }> {
  const { config, redirectTo } = context;
  const settings = requireBrowserProvider(config, query.get('provider') ?? '');
  const pkce = parsePkce(query.get('code_challenge'), query.get('code_challenge_method'));
  const token = () => randomBytes(32).toString('base64url');
  const secrets = { verifier: token(), nonce: query.get('nonce') || token() };
  const { name: provider, isEmailOptional } = settings;
  const state = await transact(context, [], async (tx) => {
    if (purpose.inviteToken !== null) await findInvited(tx, purpose.inviteToken, 'user_not_found');
    return createProviderFlow(tx, { provider, pkce, redirectTo, isEmailOptional, ...purpose }, secrets);
  });
  return leadToProvider(context, settings, query, { state, ...secrets });
}

async function leadToProvider(
  context: AuthContext,
  settings: ProviderSettings,
  query: URLSearchParams,
  { state, verifier, nonce }: ProviderSecrets & { readonly state: string },
): Promise<StartedSignIn & { readonly state: string }> {
  try {
    const url = await context.services.providers.startUrl(settings, {
      state,
      verifier,
      nonce: nonce ?? '',
      redirectUri: callbackOf(context, settings),
      scopes: (query.get('scopes') ?? '').split(/[\s,]+/).filter((scope) => scope !== ''),
      parameters: new URLSearchParams([...query].filter(([name]) => !reserved.has(name.toLowerCase()))),
    });
    return { url, state, answersByForm: new URL(url).searchParams.get('response_mode') === 'form_post' };
  } catch (error) {
    throw toAuthError(error, settings.name);
  }
}

/** The redirect URI for the provider. */
export function callbackOf({ authUrl }: AuthContext, { redirectUri }: ProviderSettings): string {
  return redirectUri ?? `${authUrl}/callback`;
}

/** A provider that does not answer is not the client's fault. */
export function toAuthError(error: unknown, provider: string): unknown {
  if (!(error instanceof ProviderError) || error.failure !== 'unreachable') return error;
  const message = `The provider ${provider} cannot be reached at the moment.`;
  return new AuthError('unexpected_failure', message, { status: 503, cause: error });
}
