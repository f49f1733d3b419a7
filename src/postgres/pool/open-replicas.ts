/**
 * Makes the pools of the configured read replicas: for each, one like the primary's for queries and a small one for
 * monitoring.
 */
import type { Config } from '../../config/config.ts';
import type { Observe } from '../../shared/observation.ts';
import { createSystemPool, type SystemPool } from '../system/run-system.ts';
import { watchConnections } from '../wire/connection-failure.ts';
import { loginOf } from '../wire/login.ts';
import { type ApiPoolOptions, createApiPool, type PoolEvent } from './pool.ts';
import type { ReplicaPools } from './replica.ts';
import { Replicas } from './replicas.ts';

/** Settings that replicas share with the primary. */
interface ReplicaSetup {
  readonly config: Config;
  /** As for the primary's pool. */
  readonly api: Omit<ApiPoolOptions, 'connectionString' | 'watch' | 'onEvent'>;
  readonly primary: SystemPool;
  readonly observe: Observe;
}

/** Null without replicas. Connects to none yet. */
export function openReplicas({ config, api, primary, observe }: ReplicaSetup): Replicas | null {
  const { readReplicaUrls, maxReplicaLagMs } = config;
  if (readReplicaUrls.length === 0) return null;
  const replicas = readReplicaUrls.map((_url, index): ReplicaPools => {
    const connectionString = loginOf(config, index);
    // One for both pools of a replica.
    const watch = watchConnections(`replica_${index + 1}`, observe);
    // A broken connection is no event: the affected request or check notices it.
    const onEvent = ({ kind }: PoolEvent) => {
      if (kind === 'prepared_statements_off') observe({ kind });
    };
    const pool = createApiPool({ ...api, connectionString, watch, onEvent });
    const monitor = createSystemPool({
      connectionString,
      size: 1,
      waitMs: config.poolWaitMs,
      applicationName: 'pgreflect replica',
      watch,
      onError: () => {},
    });
    return { pool, monitor };
  });
  return new Replicas({ replicas, primary, maxLagMs: maxReplicaLagMs, observe });
}
