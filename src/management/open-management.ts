/** Opens the management API of a gateway: the configuration store, kept current by notifications, and its project. */
import { createRateLimiter } from '../auth/store/rate-limit.ts';
import type { Config } from '../config/config.ts';
import { deriveKey } from '../config/keys.ts';
import type { OwnPool } from '../postgres/migrations/own-pool.ts';
import { type Listener, startListener } from '../postgres/system/listener.ts';
import { watchConnections } from '../postgres/wire/connection-failure.ts';
import { endLimitMs } from '../postgres/wire/driver.ts';
import { loginOf } from '../postgres/wire/login.ts';
import type { Clock } from '../shared/clock.ts';
import { finishesWithin } from '../shared/finishes-within.ts';
import type { Observe } from '../shared/observation.ts';
import { ConfigStore } from './config-store.ts';
import type { ManagedProject } from './managed-project.ts';
import { createProjectRef } from './project-ref.ts';
import type { ManagementParts } from './routes/management-parts.ts';
import { createSecretDigest } from './secret-digest.ts';
import { configChannel } from './stored-config.ts';
import { type AuthStart, ConfiguredTemplates } from './templates/configured-templates.ts';
import { RenderingTime } from './templates/rendering-time.ts';
import { createUnknownTokens } from './tokens/unknown-tokens.ts';

interface ManagementSetup {
  readonly config: Config;
  /** Public address of the auth service without a slash at the end. */
  readonly authUrl: string;
  /** Connections that may read and write our tables; the caller stops them. */
  readonly pool: OwnPool;
  readonly clock: Clock;
  readonly observe: Observe;
}

/** A running management API. */
export interface Management {
  readonly store: ConfigStore;
  readonly project: ManagedProject;
  /** The project, and the counts of its access tokens. */
  readonly counted: Pick<ManagementParts, 'project' | 'takeRequest' | 'perMinute'>;
  /** Resolves when stored values and email bodies were read, or could not be. */
  readonly loaded: Promise<void>;
  /** Sets other start values; stored values still override them. Resolves when they apply. */
  configure(start: AuthStart): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts it: reads stored values if the database answers, and listens for changes if the tables exist. If the database
 * is down, the first request that succeeds reads them.
 */
export function openManagement({ config, authUrl, pool, clock, observe }: ManagementSetup): Management {
  const { projectRef, authValues, managementIgnoreUnknownFields } = config;
  const ref = createProjectRef(projectRef);
  // If the API cannot change stored values, only the start values count.
  const configOnly = config.configOnly || !config.managementApiEnabled;
  const store = new ConfigStore({ ref, startValues: authValues, configOnly, observe });
  const templates = new ConfiguredTemplates({ store, clock, observe });
  // The next request meets the same failure and reports it.
  const refresh = () => store.refreshIfNewer(pool).catch(() => store.current());
  let listener: Listener | null = null;
  let stopped = false;

  async function load(): Promise<void> {
    if (configOnly) return;
    await refresh();
    const isThere = await pool.isOurs().catch(() => true);
    if (!isThere || stopped) return;
    listener = startListener({
      connectionString: loginOf(config, 'adminDatabaseUrl'),
      applicationName: 'pgreflect configuration listener',
      watch: watchConnections('configuration_listener', observe),
      channel: configChannel,
      check: async () => store.current() !== (await refresh()),
      // The parts that need the database report that it is unavailable.
      onLost: () => {},
    });
  }

  // Stored values affect how templates are parsed, and the base of relative template addresses.
  const loaded = load().then(() => templates.replace(config));
  const project: ManagedProject = {
    pool,
    store,
    authUrl,
    ref: () => ref(pool.catalog),
    accessToken: () => config.accessToken,
    ignoreUnknown: managementIgnoreUnknownFields,
    digest: (field, secret) => createSecretDigest(deriveKey(config, 'secret digest'))(field, secret),
    renderingTime: new RenderingTime(config.managementRateLimit),
    unknownTokens: createUnknownTokens(config.managementRateLimit, clock),
    clock,
    observe,
  };
  const limiter = createRateLimiter(pool, () => clock.now());
  const counted: Management['counted'] = {
    project,
    perMinute: config.managementRateLimit,
    takeRequest: (tokenId, kind, limit) =>
      limiter.take(`management:${kind === 'request' ? '' : `${kind}:`}${tokenId}`, {
        kind: 'window',
        limit,
        windowMs: 60_000,
      }),
  };
  return {
    store,
    project,
    counted,
    loaded,
    configure: (start) => templates.replace(start),
    stop: async () => {
      stopped = true;
      await templates.stop();
      // The database may no longer answer.
      await finishesWithin(endLimitMs, loaded);
      await listener?.stop();
    },
  };
}
