/** Starts the auth service and makes what HTTP needs of it: routes, and the inbox for captured messages. */
import type { AuthConfig, AuthValues } from '../config/auth/auth-config.ts';
import { createConfiguredHosts } from '../config/auth/configured-hosts.ts';
import type { Config } from '../config/config.ts';
import { findSigningKey } from '../config/keys.ts';
import type { Inbox } from '../email/transport/inbox.ts';
import type { Queryable } from '../postgres/system/queryable.ts';
import { createTrust } from '../server/caller/client-address.ts';
import type { VerifyToken } from '../server/caller/verify-token.ts';
import { authUrlOf, inboxPath } from '../server/paths.ts';
import { createEgress } from '../shared/egress/egress.ts';
import { mergeCalls } from '../shared/merge-calls.ts';
import type { AuthParts, FindOperator } from './routes/auth-parts.ts';
import { createClaimsVerifier } from './rules/verify-claims.ts';
import type { AuthSetup } from './start-auth.ts';

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
  extends Omit<AuthSetup, 'authUrl' | 'inboxUrl' | 'verify' | 'signer' | 'egress' | 'currentConfig' | 'configVersion'> {
  readonly configStore: AuthConfigStore;
  /** With the present keys. */
  readonly verifyToken: VerifyToken;
  /** As in `AuthParts`. */
  readonly findOperator: FindOperator | null;
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
  /** Imports another key that signs. Rejects if it is malformed, or none signs. @returns Replaces the key. */
  prepareSigner(next: Config): Promise<() => void>;
  stop(): Promise<void>;
}

/** Whether one of the keys signs tokens. */
export function canSign({ jwtSecret, jwtKeys }: Pick<Config, 'jwtSecret' | 'jwtKeys'>): boolean {
  return jwtSecret !== null || findSigningKey(jwtKeys) !== null;
}

/** Null if no key can sign tokens; the gateway then runs without the service. */
export async function openAuth({
  configStore: store,
  verifyToken,
  findOperator,
  ...setup
}: OpenAuthOptions): Promise<OpenAuth | null> {
  const { config, database, clock, observe } = setup;
  if (!canSign(config)) {
    const message = 'No key signs tokens, so there is no auth service.';
    observe({ kind: 'warning', message, hint: 'Set --jwt-secret, or add a key with `sign` in key_ops to --jwt-keys.' });
    return null;
  }
  // Loaded here, so that a gateway without the service does not load its code.
  const [{ startAuth }, { ReplaceableSigner }, { findSessions }, { isEmailCaptured }] = await Promise.all([
    import('./start-auth.ts'),
    import('./secrets/replaceable-signer.ts'),
    import('./store/sessions.ts'),
    import('../email/transport/mailer.ts'),
  ]);
  const authUrl = authUrlOf(config);
  const inboxUrl = `${config.externalUrl}${inboxPath}`;
  const key = await ReplaceableSigner.open(config);
  // Under load, one comparison serves all requests that came before it.
  const currentConfig = mergeCalls(() => store.refreshIfNewer(database));
  const addresses = { authUrl, inboxUrl };
  const egress = createEgress(config.allowPrivateNetworks ? null : createConfiguredHosts(() => store.snapshot().start));
  const auth = startAuth({
    ...setup,
    ...addresses,
    verify: createClaimsVerifier(config, verifyToken, clock),
    signer: key.signer,
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
      findOperator,
      isFromProxy: createTrust(config),
    },
    inbox,
    isCaptured,
    findSessions: async (ids) => ((await isInstalled()) ? findSessions(database, ids) : null),
    prepareSigner: (next) => key.prepare(next),
    stop: async () => {
      key.stop();
      await stop();
    },
  };
}
