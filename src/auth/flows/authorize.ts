/**
 * The way to a provider: where the browser goes, and what is noted until it comes back.
 */
import { AuthError } from '../auth-error.ts';
import type { UserBearer } from '../bearer.ts';
import { parsePkce } from '../pkce.ts';
import { createProviderFlow } from '../provider-flow.ts';
import { ProviderError } from '../providers/provider-error.ts';
import { type ProviderSettings, requireBrowserProvider } from '../providers/provider-settings.ts';
import { findInvited } from './accept-invitation.ts';
import { type Flow, transact } from './flow.ts';
import { assertManualLinking } from './manual-linking.ts';

/** Parameters of a sign-in that are ours; every other one is for the provider. */
export const signInQuery = {
  provider: 'Name of the provider.',
  scopes: 'What else to ask the provider for, separated by blanks.',
  redirect_to: 'Where the sign-in leads, if the configuration allows it.',
  code_challenge: 'Of the PKCE flow; without it the session comes with the redirect.',
  code_challenge_method: '`s256` or `plain`.',
  invite_token: 'Hash of the link of an invitation that is accepted in this way.',
} as const;

const { invite_token: _invitation, ...common } = signInQuery;

/** The same for linking. */
export const linkingQuery = { ...common, skip_http_redirect: '`true`: the address comes as an answer.' } as const;

/** Ours, or such as would let somebody else choose what the provider does. Compared in lower case. */
const reserved = new Set([
  ...Object.keys({ ...signInQuery, ...linkingQuery }), 'apikey', 'client_id', 'client_secret', 'redirect_uri', 'response_type', 'state',
  'code_verifier', 'request', 'request_uri',
]); // biome-ignore format: a list of names

/** `GET /authorize`. @returns The address at the provider. @throws AuthError */
export function startSignIn(flow: Flow, query: URLSearchParams): Promise<string> {
  return start(flow, query, { inviteToken: query.get('invite_token') || null, linkingTargetId: null });
}

/** `GET /user/identities/authorize`. @returns As `startSignIn`. @throws AuthError also `manual_linking_disabled` */
export function startLinking(flow: Flow, { user }: UserBearer, query: URLSearchParams): Promise<string> {
  assertManualLinking(flow);
  return start(flow, query, { inviteToken: null, linkingTargetId: user.id });
}

interface Purpose {
  readonly inviteToken: string | null;
  readonly linkingTargetId: string | null;
}

async function start(flow: Flow, query: URLSearchParams, purpose: Purpose): Promise<string> {
  const { services, config, redirectTo } = flow;
  const settings = requireBrowserProvider(config, query.get('provider') ?? '');
  const pkce = parsePkce(query.get('code_challenge'), query.get('code_challenge_method'));
  const token = () => Buffer.from(services.random.bytes(32)).toString('base64url');
  const secrets = { verifier: token(), nonce: query.get('nonce') || token() };
  const { name: provider, isEmailOptional } = settings;
  const state = await transact(flow, async (session) => {
    const { inviteToken } = purpose;
    if (inviteToken !== null) await findInvited(session, flow, inviteToken, 'user_not_found');
    return createProviderFlow(session, { provider, pkce, redirectTo, isEmailOptional, ...purpose }, secrets, services);
  });
  try {
    return await services.providers.startUrl(settings, {
      ...{ state, ...secrets, redirectUri: callbackOf(flow, settings) },
      ...{ scopes: splitScopes(query.get('scopes')), parameters: forProvider(query) },
    });
  } catch (error) {
    throw toAuthError(error, provider);
  }
}

/** Where the provider sends the browser back to. */
export function callbackOf({ authUrl }: Flow, { redirectUri }: ProviderSettings): string {
  return redirectUri ?? `${authUrl}/callback`;
}

/** A provider that does not answer is no fault of the request. */
export function toAuthError(error: unknown, provider: string): unknown {
  if (!(error instanceof ProviderError) || error.failure !== 'unreachable') return error;
  const message = `The provider ${provider} cannot be reached at the moment.`;
  return new AuthError('unexpected_failure', message, { status: 503, cause: error });
}

function splitScopes(text: string | null): readonly string[] {
  return (text ?? '').split(/[\s,]+/).filter((scope) => scope !== '');
}

function forProvider(query: URLSearchParams): URLSearchParams {
  return new URLSearchParams([...query].filter(([name]) => !reserved.has(name.toLowerCase())));
}
