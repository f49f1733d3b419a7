/**
 * Opens what answers GraphQL requests, without HTTP: connections, the catalog with the models made of it, the executor.
 *
 * The database may be unavailable at any time, even at the start: requests then fail with `UNAVAILABLE`, it is logged
 * once, and all continues when it is back.
 */
import type { Config } from '../config/config.ts';
import type { DatabaseError } from '../postgres/database-error.ts';
import { isAway } from '../postgres/database-error.ts';
import { watchAvailability } from '../postgres/pool/availability.ts';
import { openReplicas } from '../postgres/pool/open-replicas.ts';
import { type ApiPool, createApiPool } from '../postgres/pool/pool.ts';
import type { ReplicaState } from '../postgres/pool/replica.ts';
import type { Replicas } from '../postgres/pool/replicas.ts';
import { startListener } from '../postgres/system/listener.ts';
import { createSystemPool, type SystemPool } from '../postgres/system/run-system.ts';
import { watchConnections } from '../postgres/wire/connection-failure.ts';
import { loginOf } from '../postgres/wire/login.ts';
import type { PoolState } from '../postgres/wire/pool-state.ts';
import type { LiveState } from '../server/metrics/read-states.ts';
import type { Observe } from '../shared/observation.ts';
import { type Tracer, untraced } from '../shared/trace/span.ts';
import { TrustedDocuments } from './documents/trusted-documents.ts';
import { createExecutor } from './execute/create-executor.ts';
import type { Executor } from './execute/executor.ts';
import { Reflector } from './execute/reflector.ts';
import type { ExecuteOptions } from './execute/run-flight.ts';
import { warmDocuments } from './execute/warm-documents.ts';
import { LiveQueries } from './live/live-queries.ts';

/** What answers GraphQL requests. */
export interface Graphql {
  readonly executor: Executor;
  readonly live: LiveQueries;
  readonly reflector: Reflector;
  /** Connections of the login for system statements. */
  readonly systemPool: SystemPool;
  /**
   * Resolves when the schema was read or the database found unavailable.
   *
   * @throws DatabaseError if it refuses us; ConfigError if trusted documents cannot be read.
   */
  start(): Promise<void>;
  /** Compiles the trusted documents. To be called when requests are answered. */
  warm(): void;
  /** To be called when a connection was lost: finds out whether the database is away. */
  suspect(problem: Error): void;
  /** The state of the parts, for the metrics. */
  state(): GraphqlState;
  stop(): Promise<void>;
}

interface GraphqlState {
  /** By the name of the pool. */
  readonly pools: Readonly<Record<string, PoolState>>;
  readonly replicas: readonly ReplicaState[];
  /** Age of the model in milliseconds; null without a model. */
  readonly modelAgeMs: number | null;
  /** Cache hits and misses of parsed and validated documents. */
  readonly documents: { readonly hits: number; readonly misses: number };
  readonly live: LiveState;
}

/**
 * Named statements per connection; each costs memory in every server process, about 100 KB for a nested one. Enough for
 * 200 operations used in turn, which would otherwise evict each other.
 */
const maxStatementsPerConnection = 250;

/** Size of a row besides the answer's columns: their lengths, and columns only for ordering. */
const protocolBytes = 1024 * 1024;

/** What is told of its work. */
interface GraphqlReports {
  readonly observe: Observe;
  /** Default: nothing is recorded. */
  readonly tracer?: Tracer;
}

/** Builds the parts; connects when it starts. */
export function openGraphql(config: Config, { observe, tracer = untraced }: GraphqlReports): Graphql {
  const { poolWaitMs: waitMs } = config;
  const connectionString = loginOf(config, 'databaseUrl');
  const suspect = (problem: Error) => availability.suspect(problem);
  const systemPool = createSystemPool({
    connectionString,
    waitMs,
    size: config.systemPoolSize,
    applicationName: 'pgreflect system',
    watch: watchConnections('system', observe),
    onError: suspect,
    // The fingerprint is compared every second, and planning it takes most of its time.
    preparedStatements: config.preparedStatements,
  });
  // The reflector observes a failed reload; requests continue with the old model.
  const reload = (reason: string) => reflector.reload(reason).catch(() => {});
  const availability = watchAvailability(systemPool, observe, () => void reload('database back'));
  const reflector = new Reflector({
    ...config,
    systemPool,
    observe: (observation) => {
      if (observation.kind === 'reloaded') live.schemaChanged();
      if (observation.kind === 'reload_failed' && isAway(observation.error)) suspect(observation.error);
      else observe(observation);
    },
  });
  const { pool, replicas } = openPools(config, { systemPool, suspect, observe });
  const trusted = config.trustedDocuments === null ? null : new TrustedDocuments(config.trustedDocuments, observe);
  const warm = async (): Promise<void> => {
    const list = trusted?.list;
    // Requests find out why the schema cannot be read.
    if (list) await warmDocuments(reflector, list, [config.anonRole, config.authenticatedRole]).catch(() => {});
  };
  const executor = openExecutor(config, { pool, replicas, reflector, trusted, observe });
  const isBusy = () => pool.queue.waiting > 0;
  const live = new LiveQueries({ config, executor, systemPool, replicas, isBusy, observe, tracer });
  const listener = startListener({
    connectionString,
    applicationName: 'pgreflect listener',
    watch: watchConnections('listener', observe),
    check: () => reflector.reloadIfChanged('notification'),
    onLost: suspect,
  });
  return {
    executor,
    live,
    reflector,
    systemPool,
    suspect,
    warm: () => void warm(),
    async start() {
      await trusted?.start(warm);
      await Promise.all([startReflector(reflector), pool.open()]);
      // After reading the catalog, so that replicas are known to have reached the catalog's state.
      await replicas?.start();
    },
    state: () => ({ ...stateOf({ pool, systemPool, replicas, reflector }), live: live.state() }),
    async stop() {
      live.stop();
      availability.stop();
      trusted?.stop();
      reflector.stop();
      await Promise.all([listener.stop(), replicas?.stop()]);
      await Promise.all([pool.stop(), systemPool.stop()]);
    },
  };
}

type ExecutorParts = Pick<ExecuteOptions, 'pool' | 'replicas' | 'reflector' | 'trusted' | 'observe'>;

function openExecutor(config: Config, parts: ExecutorParts): Executor {
  return createExecutor({
    ...parts,
    // The same object for as long as the gateway runs, with its present values.
    limits: config.limits,
    maxResponseBytes: config.limits.maxResponseBytes,
    requestTimeoutMs: config.statementTimeoutMs,
    get readOnlyQueries() {
      return config.readOnlyQueries;
    },
    get absentFilterVariables() {
      return config.absentFilterVariables;
    },
    freshness: config.freshness,
  });
}

interface Pools {
  readonly pool: ApiPool;
  readonly replicas: Replicas | null;
}

/** The connections of requests: to the server, and to its replicas. */
function openPools(
  config: Config,
  parts: { readonly systemPool: SystemPool; readonly suspect: (problem: Error) => void; readonly observe: Observe },
): Pools {
  const { systemPool, suspect, observe } = parts;
  const api = {
    size: config.poolSize,
    waitMs: config.poolWaitMs,
    applicationName: 'pgreflect',
    preparedStatements: config.preparedStatements,
    maxStatementsPerConnection,
    maxMessageBytes: config.limits.maxResponseBytes + protocolBytes,
  };
  const pool = createApiPool({
    ...api,
    connectionString: loginOf(config, 'databaseUrl'),
    watch: watchConnections('api', observe),
    onEvent: (event) => {
      if (event.kind === 'connection_lost') suspect(event.problem);
      else observe({ kind: 'prepared_statements_off' });
    },
  });
  return { pool, replicas: openReplicas({ config, api, primary: systemPool, observe }) };
}

function stateOf({
  pool,
  systemPool,
  replicas,
  reflector,
}: Pools & Pick<Graphql, 'systemPool' | 'reflector'>): Omit<GraphqlState, 'live'> {
  const states = replicas?.states() ?? [];
  const reflection = reflector.current();
  return {
    pools: {
      api: pool.state(),
      system: systemPool.state(),
      ...Object.fromEntries(states.map((replica) => [`replica_${replica.number}`, replica.pool])),
    },
    replicas: states,
    modelAgeMs: reflection === null ? null : performance.now() - reflection.readStartedAt,
    documents: reflection?.documentCounts ?? { hits: 0, misses: 0 },
  };
}

async function startReflector(reflector: Reflector): Promise<void> {
  try {
    await reflector.start();
  } catch (error) {
    if (!isAway(error) || isRefusal(error)) throw error;
  }
}

/** A wrong name, password or database. After the start waiting may help: operators change passwords. */
function isRefusal({ sqlstate }: DatabaseError): boolean {
  return sqlstate !== null && (sqlstate.startsWith('28') || sqlstate === '3D000');
}
