/** Connections for the tables of the auth service, which the login of requests may not be able to read. */
import type { Config } from '../config/config.ts';
import { authSchemas } from '../postgres/migrations/migrate.ts';
import { guardPool, type OwnPool } from '../postgres/migrations/own-pool.ts';
import { createSystemPool } from '../postgres/system/run-system.ts';
import { watchConnections } from '../postgres/wire/connection-failure.ts';
import { loginOf } from '../postgres/wire/login.ts';
import type { Observe } from '../shared/observation.ts';

/** Far more than a user's row has; functions of an operator run here, too. */
const maxAuthRowBytes = 16 * 1024 * 1024;

/** Connects on first use. @param onError Called when a connection breaks. */
export function createAuthPool(config: Config, observe: Observe, onError: (problem: Error) => void): OwnPool {
  const pool = createSystemPool({
    connectionString: loginOf(config, 'adminDatabaseUrl'),
    size: config.authPoolSize,
    waitMs: config.poolWaitMs,
    applicationName: 'pgreflect auth',
    watch: watchConnections('auth', observe),
    maxMessageBytes: maxAuthRowBytes,
    preparedStatements: config.preparedStatements,
    primaryOnly: true,
    onPreparedOff: () => observe({ kind: 'prepared_statements_off' }),
    onError,
  });
  return guardPool(pool, authSchemas(config.adoptRole ?? []));
}
