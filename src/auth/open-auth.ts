/** Starts the auth service and makes what HTTP needs of it: routes, and the inbox for captured messages. */
import type { AuthConfig, AuthValues } from '../config/auth/auth-config.ts';
import { createConfiguredHosts } from '../config/auth/configured-hosts.ts';
import type { Config } from '../config/config.ts';
import type { Inbox } from '../email/transport/inbox.ts';
import type { Queryable } from '../postgres/system/queryable.ts';
import { findKey, refuseWithdrawnKey } from '../server/caller/authenticate.ts';
import { createTrust } from '../server/caller/client-address.ts';
import { createTokenVerifier } from '../server/caller/verify-token.ts';
import { authUrlOf, inboxPath } from '../server/paths.ts';
import type { Clock } from '../shared/clock.ts';
import { createEgress } from '../shared/egress/egress.ts';
import { mergeCalls } from '../shared/merge-calls.ts';
import type { AuthParts } from './routes/auth-parts.ts';
import type { VerifyClaims } from './rules/bearer.ts';
import type { Auth, AuthSetup } from './start-auth.ts';

/** Where the configuration of the service comes from. */
interface AuthConfigStore {
  /** The newest that was read. */
  current(): AuthConfig;
  snapshot(): { readonly start: AuthValues };
  /** @throws DatabaseError */
  refreshIfNewer(database: Queryable): Promise<AuthConfig>;
  readonly version: number;
}

interface OpenAuthOptions
  extends Omit<AuthSetup, 'authUrl' | 'inboxUrl' | 'verify' | 'egress' | 'currentConfig' | 'configVersion'> {
  readonly configStore: AuthConfigStore;
}

/** The started service; the caller stops it. */
export interface OpenAuth {
  readonly auth: AuthParts;
  /** Captured emails and text messages. */
  readonly inbox: Inbox;
  /** Whether they are captured now. */
  readonly isCaptured: () => boolean;
  /** Which of these sessions exist; null without our tables. @throws DatabaseError */
  readonly findSessions: (ids: readonly string[]) => Promise<ReadonlySet<string> | null>;
  stop(): Promise<void>;
}

/** Null if no key can sign tokens; the gateway then runs without the service. */
export async function openAuth({ configStore: store, ...setup }: OpenAuthOptions): Promise<OpenAuth | null> {
  const { config, database, clock, observe } = setup;
  if (config.jwtSecret === null && config.jwtKeys.every(({ key_ops }) => !key_ops?.includes('sign'))) {
    const message = 'No key signs tokens, so there is no auth service.';
    observe({ kind: 'warning', message, hint: 'Set --jwt-secret, or add a key with `sign` in key_ops to --jwt-keys.' });
    return null;
  }
  // Loaded here, so that a gateway without the service does not load its code.
  const [{ startAuth }, { findSessions }, { isEmailCaptured }] = await Promise.all([
    import('./start-auth.ts'),
    import('./store/sessions.ts'),
    import('../email/transport/mailer.ts'),
  ]);
  const authUrl = authUrlOf(config);
  const inboxUrl = `${config.externalUrl}${inboxPath}`;
  const verify = await createClaimsVerifier(config, clock);
  // Under load, one comparison serves all requests that came before it.
  const currentConfig = mergeCalls(() => store.refreshIfNewer(database));
  const addresses = { authUrl, inboxUrl };
  const egress = createEgress(config.allowPrivateNetworks ? null : createConfiguredHosts(() => store.snapshot().start));
  const auth: Auth = await startAuth({
    ...setup,
    ...addresses,
    verify,
    egress,
    currentConfig,
    configVersion: () => store.version,
  });
  const { services, inbox, isInstalled, stop } = auth;
  const isCaptured = () => isEmailCaptured(store.current()) || store.current().sms_provider === 'capture';
  return {
    auth: {
      services,
      authUrl,
      knownConfig: () => store.current(),
      currentConfig,
      isInstalled,
      isFromProxy: createTrust(config.trustedProxies),
    },
    inbox,
    isCaptured,
    findSessions: async (ids) => ((await isInstalled()) ? findSessions(database, ids) : null),
    stop,
  };
}

/**
 * Verifies the Bearer token of a request and returns its claims. Clients without a token send their API key instead,
 * and an opaque key stands for a token of its role. Only tokens of our own keys count: the holder of a further key may
 * name any caller at the GraphQL API, but must not become an admin or a user here.
 */
async function createClaimsVerifier(options: Config, clock: Clock): Promise<VerifyClaims> {
  const verify = await createTokenVerifier({ ...options, jwks: [], jwksUrl: null }, clock);
  return async (token) => {
    const key = await findKey(token, { options, verify, clock });
    if (key !== null) return JSON.parse(key.identity.claims);
    const verified = await verify(token, { ownKeysOnly: true, checkAudience: true });
    refuseWithdrawnKey(verified, options);
    return verified.claims;
  };
}
