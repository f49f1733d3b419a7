/** What the requests of the management API work with, beside the request itself. */
import { type AuthConfig, layerAuthConfig } from '../config/auth/auth-config.ts';
import type { OwnPool } from '../postgres/migrations/own-pool.ts';
import type { Clock } from '../shared/clock.ts';
import type { Observe } from '../shared/observation.ts';
import type { ConfigStore } from './config-store.ts';
import type { DigestSecret } from './secret-digest.ts';
import type { SampleSettings } from './templates/email-drafts.ts';
import type { RenderingTime } from './templates/rendering-time.ts';
import type { UnknownTokens } from './tokens/unknown-tokens.ts';

/** The project of a gateway. */
export interface ManagedProject {
  /** Connections that may read and write our tables. */
  readonly pool: OwnPool;
  readonly store: ConfigStore;
  /** Public address of the auth service, for the links of drafts. */
  readonly authUrl: string;
  /** @throws DatabaseError if it must be derived and the database does not answer. */
  readonly ref: () => Promise<string>;
  /** A token from the options (`--access-token`), not stored, with all scopes; null: none. */
  readonly accessToken: () => string | null;
  readonly ignoreUnknown: boolean;
  readonly digest: DigestSecret;
  readonly renderingTime: RenderingTime;
  readonly unknownTokens: UnknownTokens;
  readonly clock: Clock;
  readonly observe: Observe;
}

/** The newest configuration, for drafts. @throws DatabaseError */
export async function readSampleSettings({ store, pool, authUrl }: ManagedProject): Promise<SampleSettings> {
  return { config: await store.refreshIfNewer(pool), authUrl };
}

/** The values that apply if nothing is stored. */
export function startConfig({ store }: ManagedProject): AuthConfig {
  return layerAuthConfig(store.snapshot().start);
}
