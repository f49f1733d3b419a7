/** The record of changed tables, as `init --live` makes it. */
import { installLive } from '../../src/cli/init/live-setup.ts';
import { installWatch } from '../../src/cli/init/watch-setup.ts';
import { createSystemPool } from '../../src/postgres/system/run-system.ts';
import type { TestDatabase } from './postgres.ts';

/** Makes it, for the usual roles. */
export async function recordChanges(
  { url: connectionString }: Pick<TestDatabase, 'url'>,
  {
    schemas = ['public'],
    isWatched = true,
  }: { readonly schemas?: readonly string[]; readonly isWatched?: boolean } = {},
): Promise<void> {
  const options = { connectionString, waitMs: 10_000, size: 1, applicationName: 'test', onError: () => {} };
  const pool = createSystemPool(options);
  const setup = {
    anon: 'anon',
    authenticated: 'authenticated',
    service: 'service_role',
    login: 'authenticator',
    adoptedRoles: [],
    loginPassword: null,
    grantDefaults: false,
    schemas,
  };
  try {
    const watch = isWatched ? [await installWatch(pool, setup.login)] : [];
    const refused = [...watch, ...(await installLive(pool, setup, isWatched))].filter(
      ({ result }) => result === 'refused',
    );
    if (refused.length > 0) throw new Error(refused.map(({ topic, reason }) => `${topic}: ${reason}`).join('\n'));
  } finally {
    await pool.stop();
  }
}
