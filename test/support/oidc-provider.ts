/**
 * A provider of OpenID Connect, real and certified, with users of its own. A person types a name into its page; a request
 * that has the name as `login_hint` gets through without one.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair } from 'jose';
import { atEnd } from './when-over.ts';

// biome-ignore lint/suspicious/noExplicitAny: the package has no types
type Untyped = any;

/** What the provider knows of its users, by subject. */
export type ProviderUsers = Record<string, Readonly<Record<string, unknown>>>;

/** The running provider. */
export interface OidcProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** A test may add users. */
  readonly users: ProviderUsers;
}

/** Starts it; stopped after the test file. @param redirectUris Where it may send browsers back to. */
export async function startOidcProvider(redirectUris: readonly string[], users: ProviderUsers): Promise<OidcProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => void server.close().closeAllConnections());
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`;
  const [clientId, clientSecret] = ['our client', 'the secret of our client'];
  const client = { client_id: clientId, client_secret: clientSecret, redirect_uris: redirectUris };
  const provider = await createProvider(issuer, client, users);
  const answer = provider.callback();
  server.on('request', (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return answer(request, response);
    interact(provider, users, request, response).catch((error) => response.writeHead(500).end(String(error)));
  });
  return { issuer, clientId, clientSecret, users };
}

/** One for all of the process: making it takes as long as a page of tests. */
let key: ReturnType<typeof generateKeyPair> | null = null;

async function createProvider(issuer: string, client: object, users: ProviderUsers): Promise<Untyped> {
  const require = createRequire(import.meta.url);
  const { default: Provider } = require('oidc-provider') as Untyped;
  // What it takes by itself, with a warning.
  const { default: MemoryAdapter } = require('oidc-provider/lib/adapters/memory_adapter.js') as Untyped;
  key ??= generateKeyPair('RS256', { extractable: true });
  const { privateKey } = await key;
  return new Provider(issuer, {
    adapter: (name: string) => new MemoryAdapter(name),
    clients: [
      {
        ...client,
        token_endpoint_auth_method: 'client_secret_post',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: 'one', alg: 'RS256', use: 'sig' }] },
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['name', 'picture', 'preferred_username', 'locale', 'department', 'groups'],
    },
    pkce: { required: () => true },
    scopes: ['openid', 'offline_access', 'calendar'],
    issueRefreshToken: () => true,
    ttl: { Interaction: 600, Grant: 600, Session: 600, AccessToken: 600, RefreshToken: 600, IdToken: 600 },
    cookies: { keys: ['a key for cookies'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_context: unknown, sub: string) =>
      users[sub] === undefined ? undefined : { accountId: sub, claims: () => ({ sub, ...users[sub] }) },
    loadExistingGrant: grantEverything,
  });
}

async function grantEverything({ oidc }: Untyped): Promise<Untyped> {
  const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
  grant.addOIDCScope('openid email profile offline_access calendar');
  await grant.save();
  return grant;
}

const page = `<!doctype html><title>Provider</title>
<form method="post"><input name="login" aria-label="Name"><button>Sign in</button></form>`;

async function interact(
  provider: Untyped,
  users: ProviderUsers,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { params } = await provider.interactionDetails(request, response);
  const typed = request.method === 'POST' ? new URLSearchParams(await text(request)).get('login') : null;
  const login = typed ?? params.login_hint;
  if (login === undefined) return void response.writeHead(200, { 'content-type': 'text/html' }).end(page);
  const denied = { error: 'access_denied', error_description: `There is no ${login}: go away` };
  const result = users[login] === undefined ? denied : { login: { accountId: login } };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}
