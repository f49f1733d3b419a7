/**
 * Composition root: builds the parts from a configuration, connects them, and owns start, reload and stop.
 *
 * The database may be unavailable at any time, even at the start: the gateway then answers 503, logs it once, and
 * continues when it is back. No decisions about requests are made here.
 */
import type { AddressInfo } from 'node:net';
import { type OpenAuth, openAuth } from './auth/routes/open-auth.ts';
import type { PasswordHasher } from './auth/secrets/passwords.ts';
import { createRateLimiter } from './auth/store/rate-limit.ts';
import type { Config } from './config/config.ts';
import { readOutboxState } from './email/outbox/outbox.ts';
import { createExecutor } from './graphql/execute/create-executor.ts';
import { createSchemaDescriber } from './graphql/execute/describe-schema.ts';
import type { Executor } from './graphql/execute/executor.ts';
import { createExplainer } from './graphql/execute/explain-operation.ts';
import { Reflector, type ReflectorOptions } from './graphql/execute/reflector.ts';
import type { Model } from './graphql/model/model.ts';
import { type Management, startManagement } from './management/start-management.ts';
import type { AuthStart } from './management/templates/start-templates.ts';
import type { DatabaseError } from './postgres/database-error.ts';
import { isAway } from './postgres/database-error.ts';
import { watchAvailability } from './postgres/pool/availability.ts';
import { openReplicas } from './postgres/pool/open-replicas.ts';
import { type ApiPool, createApiPool } from './postgres/pool/pool.ts';
import type { Replicas } from './postgres/pool/replicas.ts';
import { type Listener, startListener } from './postgres/system/listener.ts';
import { createSystemPool, type SystemPool } from './postgres/system/run-system.ts';
import { createAuthenticator } from './server/caller/authenticate.ts';
import { closeServer, createHttpServer, type HttpServer } from './server/create-http-server.ts';
import { createReadiness } from './server/health.ts';
import { Meter, type MetricSeries, type MetricSources } from './server/metrics/metrics.ts';
import { openMetrics } from './server/metrics/metrics-route.ts';
import type { HttpParts, RequestKind } from './server/parts.ts';
import { authUrlOf } from './server/paths.ts';
import { type Clock, systemClock } from './shared/clock.ts';
import { createLogger, type ObservationLogger } from './shared/logger.ts';
import type { Observe } from './shared/observation.ts';
import { studioPath } from './studio/routes/studio-route.ts';
import { StudioTickets } from './studio/routes/studio-tickets.ts';

/** A running gateway. */
export interface Gateway {
  /** The origin it listens on, for example `http://127.0.0.1:54321`; empty if it does not listen. */
  readonly url: string;
  /** 0 if it does not listen. */
  readonly port: number;
  /** Port of the metrics; null without a separate one. */
  readonly metricsPort: number | null;
  /** The metrics of this process. */
  readMetrics(): Promise<MetricSeries>;
  /** The HTTP server, for programs that send requests directly (`app.inject`, `app.routing`). */
  readonly app: HttpServer;
  /** Reads the catalog again in any case. Rejects if the database refuses; the old model stays. */
  reload(reason?: string): Promise<void>;
  /** Reads the catalog again if the model's fingerprint differs. */
  compareCatalog(fingerprint: string): Promise<void>;
  /**
   * The model of a role, as its requests use it; null for an unknown role.
   *
   * @throws DatabaseError if the schema was not read yet and cannot be.
   */
  model(role: string): Promise<Model | null>;
  /** Objects missing from a role's schema, with reasons; empty for an unknown role. Rejects as `model` does. */
  readonly omissions: Reflector['omissions'];
  /** Exposes other namespaces from now on; null: the login role's search path. */
  expose(schemas: readonly string[] | null): Promise<void>;
  /** Path of the studio with a single-use token that signs in; each call makes a new one. */
  studioEntry(): string;
  /** Sets the start values of the auth configuration; stored values still override them. */
  configureAuth(start: AuthStart): Promise<void>;
  /**
   * Stops accepting requests, lets running ones finish for `drainTimeoutMs`, then cancels them; closes the connections.
   */
  stop(): Promise<void>;
}

/** Parts that an embedding program or a test may replace. */
export interface GatewayExtras {
  /** Receives the observations instead of the log. */
  readonly observe?: Observe;
  /** False: build everything, but let the caller listen. */
  readonly listen?: boolean;
  /** Clock for tokens, limits and emails; default: the machine's. */
  readonly clock?: Clock;
  /** Hashes and checks passwords; tests use a cheaper one. */
  readonly hasher?: PasswordHasher;
  /** Earliest refusal of a password where accounts are hidden, in milliseconds; for tests. */
  readonly minRefusalMs?: number;
  /** Key to prefill in GraphiQL, a public page; default: the anon key of a local project. */
  readonly graphiqlApiKey?: string;
  /** Collects the metrics of all processes that share the port, including this one; absent: there is only this one. */
  readonly gather?: () => Promise<readonly MetricSeries[]>;
  /** False: another process watches the catalog and calls `compareCatalog` and `reload`. */
  readonly watchesCatalog?: boolean;
}

/**
 * Named statements per connection; each costs memory in every server process, about 100 KB for a nested one. Enough for
 * 200 operations used in turn, which would otherwise evict each other.
 */
const maxStatementsPerConnection = 250;

/** Far more than a user's row has; functions of an operator run here, too. */
const maxAuthRowBytes = 16 * 1024 * 1024;

/** Size of a row besides the answer's columns: their lengths, and columns only for ordering. */
const protocolBytes = 1024 * 1024;

/**
 * Starts a gateway. When the promise resolves, the schema was read or the database found unavailable.
 *
 * @throws DatabaseError if the database refuses the login or the reading; an error of the operating system, for example
 *   `EADDRINUSE`, if it cannot listen. Everything is closed again then.
 */
export async function startGateway(config: Config, extras: GatewayExtras = {}): Promise<Gateway> {
  const logger = extras.observe
    ? null
    : await createLogger({
        ...{ level: config.logLevel, format: config.logFormat, slowMs: config.slowMs },
        sharesOutput: config.workers > 1,
        isLocal: config.localProject,
      });
  const log = extras.observe ?? (logger as ObservationLogger).observe;
  const clock = extras.clock ?? systemClock;
  let auth: OpenAuth | null = null;
  const meter: Meter = new Meter(() => metricSources(core, auth, clock));
  const observe: Observe = (observation) => {
    meter.observe(observation);
    log(observation);
  };
  const core = createCore(config, observe, { clock, watchesCatalog: extras.watchesCatalog ?? true });
  // Closes in reverse order of opening.
  const opened = new AsyncDisposableStack();
  opened.defer(() => stopCore(core));
  const tickets = new StudioTickets(clock);
  try {
    await Promise.all([startReflector(core), core.management.loaded, core.apiPool.open()]);
    // After reading the catalog, so that replicas are known to have reached the catalog's state.
    await core.replicas?.start();
    const graphiqlApiKey = extras.graphiqlApiKey ?? (config.localProject ? config.anonKey : null);
    const authenticate = await createAuthenticator(config, clock);
    const { executor, management } = core;
    auth = await openAuth({
      ...{ config, management, clock, observe, database: core.authPool, hasher: extras.hasher },
      minRefusalMs: extras.minRefusalMs,
      onLost: (problem) => core.availability.suspect(problem),
    });
    opened.defer(() => auth?.stop());
    const { parts: metrics, server } = await openMetrics({ config, meter, management, ...extras });
    opened.defer(() => server?.stop());
    const shared = { config, executor, authenticate, observe, graphiqlApiKey };
    const app = await createHttpServer({
      ...{ ...shared, ready: createReadiness(core), metrics },
      ...(auth !== null && { auth: auth.auth, inbox: auth.inbox }),
      ...{ ...managementParts(core, config, auth, clock), ...studioParts(core, config, tickets) },
    });
    opened.defer(() => closeServer(app, config.drainTimeoutMs));
    await app.ready();
    if (extras.listen ?? true) await app.listen({ host: config.host, port: config.port });
    const address = addressOf(app);
    if (address.url !== '') observe({ kind: 'listening', url: address.url });
    const facts = { ...address, metricsPort: server?.port ?? null, app, readMetrics: () => meter.read() };
    return { ...facts, ...controlsOf(core, tickets), stop: stopOnce(opened, observe, logger) };
  } catch (error) {
    await opened.disposeAsync();
    logger?.flush();
    throw error;
  }
}

function controlsOf(core: Core, tickets: StudioTickets) {
  const { reflector, management } = core;
  return {
    async reload(reason = 'asked') {
      await reflector.readSince(performance.now(), reason);
    },
    compareCatalog: (fingerprint: string) => reflector.compare(fingerprint),
    model: async (role: string) => (await reflector.role(role, null))?.shared.model ?? null,
    omissions: (role: string) => reflector.omissions(role),
    expose: (schemas: readonly string[] | null) => reflector.expose(schemas),
    studioEntry: () => `${studioPath}#token=${tickets.issue()}`,
    configureAuth: (start: AuthStart) => management.configure(start),
  };
}

function stopOnce(
  opened: AsyncDisposableStack,
  observe: Observe,
  logger: ObservationLogger | null,
): () => Promise<void> {
  let stopping: Promise<void> | null = null;
  async function stop(): Promise<void> {
    observe({ kind: 'stopping' });
    await opened.disposeAsync();
    observe({ kind: 'stopped' });
    logger?.flush();
  }
  return () => {
    stopping ??= stop();
    return stopping;
  };
}

/** The parts that answer requests, without HTTP. */
interface Core {
  readonly apiPool: ApiPool;
  readonly systemPool: SystemPool;
  readonly replicas: Replicas | null;
  readonly reflector: Reflector;
  readonly executor: Executor;
  /** Null if another process watches the catalog. */
  readonly listener: Listener | null;
  /** For the tables of the auth service. */
  readonly authPool: SystemPool;
  readonly management: Management;
  readonly availability: ReturnType<typeof watchAvailability>;
}

function createCore(
  config: Config,
  observe: Observe,
  { clock, watchesCatalog }: { readonly clock: Clock; readonly watchesCatalog: boolean },
): Core {
  const { statementTimeoutMs, limits } = config;
  const connection = { connectionString: config.databaseUrl, waitMs: config.poolWaitMs };
  const systemPool = createSystemPool({
    ...connection,
    size: config.systemPoolSize,
    applicationName: 'pgreflect system',
    onError: (problem) => availability.suspect(problem),
  });
  const availability = watchAvailability(systemPool, observe, () => void reload('database back'));
  const reflector = new Reflector({
    ...reflectionOptions(config),
    pollMs: watchesCatalog ? config.schemaPollMs : null,
    systemPool,
    observe: (observation) => {
      if (observation.kind === 'reload_failed' && isAway(observation.error)) availability.suspect(observation.error);
      else observe(observation);
    },
  });
  // The reflector observes a failed reload; requests continue with the old model.
  const reload = (reason: string) => reflector.readSince(performance.now(), reason).catch(() => {});
  const api = {
    ...{ size: config.poolSize, waitMs: config.poolWaitMs, applicationName: 'pgreflect' },
    ...{ preparedStatements: config.preparedStatements, maxStatementsPerConnection },
    maxMessageBytes: limits.maxResponseBytes + protocolBytes,
  };
  const apiPool = createApiPool({
    ...api,
    connectionString: config.databaseUrl,
    onEvent: (event) => {
      if (event.kind === 'connection_lost') availability.suspect(event.problem);
      else observe({ kind: 'prepared_statements_off' });
    },
  });
  const replicas = openReplicas({ config, api, primary: systemPool, observe });
  const executor = createExecutor({
    pool: apiPool,
    replicas,
    reflector,
    ...{ limits, maxResponseBytes: limits.maxResponseBytes, requestTimeoutMs: statementTimeoutMs },
    readOnlyQueries: config.readOnlyQueries,
    freshness: config.freshness,
    observe,
  });
  const { databaseUrl: connectionString } = config;
  const listener = !watchesCatalog
    ? null
    : startListener({
        ...{ connectionString, applicationName: 'pgreflect listener' },
        check: () => reflector.refreshIfChangedSinceNow('notification'),
        onLost: (problem) => availability.suspect(problem),
      });
  const auth = createAuthParts(config, observe, clock, (problem) => availability.suspect(problem));
  return { apiPool, systemPool, replicas, reflector, executor, listener, ...auth, availability };
}

function reflectionOptions(config: Config): Omit<ReflectorOptions, 'systemPool' | 'observe' | 'pollMs'> {
  return {
    schemas: config.schemas,
    introspection: config.introspection,
    extensions: config.extensions,
    serviceRole: config.serviceRole,
    extraSearchPath: config.extraSearchPath,
    statementTimeoutMs: config.statementTimeoutMs,
    strictVariablePositions: config.variablePositions === 'strict',
  };
}

/** The parts that use the auth tables, which the requests' login role may not be able to read. */
function createAuthParts(
  config: Config,
  observe: Observe,
  clock: Clock,
  onError: (problem: Error) => void,
): Pick<Core, 'authPool' | 'management'> {
  const authPool = createSystemPool({
    connectionString: config.adminDatabaseUrl,
    size: config.authPoolSize,
    waitMs: config.poolWaitMs,
    applicationName: 'pgreflect auth',
    maxMessageBytes: maxAuthRowBytes,
    preparedStatements: config.preparedStatements,
    onPreparedOff: () => observe({ kind: 'prepared_statements_off' }),
    onError,
  });
  return {
    authPool,
    management: startManagement({ config, authUrl: authUrlOf(config), pool: authPool, clock, observe }),
  };
}

async function startReflector({ reflector }: Core): Promise<void> {
  try {
    await reflector.start();
  } catch (error) {
    if (!isAway(error) || isRefusal(error)) throw error;
  }
}

/**
 * A wrong name, password or database: waiting would not help. After the start it may, because operators change
 * passwords.
 */
function isRefusal({ sqlstate }: DatabaseError): boolean {
  return sqlstate !== null && (sqlstate.startsWith('28') || sqlstate === '3D000');
}

async function stopCore(core: Core): Promise<void> {
  const { apiPool, systemPool, authPool } = core;
  core.availability.stop();
  core.reflector.stop();
  await Promise.all([core.listener?.stop(), core.management.stop(), core.replicas?.stop()]);
  await Promise.all([apiPool.stop(), systemPool.stop(), authPool.stop()]);
}

function managementParts(
  core: Core,
  config: Config,
  auth: OpenAuth | null,
  clock: Clock,
): Pick<HttpParts, 'management'> {
  if (!config.managementApiEnabled) return {};
  const limiter = createRateLimiter(core.authPool, () => clock.now());
  const takeRequest = async (tokenId: string, kind: RequestKind, limit: number) =>
    limiter.take(`management:${kind === 'request' ? '' : `${kind}:`}${tokenId}`, {
      ...{ kind: 'window', limit, windowMs: 60_000 },
    });
  const { api } = core.management;
  const services = auth?.auth.services ?? null;
  const deliver = services?.sendTrial ?? null;
  const receiveEvents = services?.receiveEvents ?? null;
  const describeSchema = createSchemaDescriber(core.reflector);
  const { allowedRoles, managementRateLimit: perMinute } = config;
  return { management: { api, takeRequest, perMinute, deliver, receiveEvents, describeSchema, allowedRoles } };
}

function studioParts(core: Core, config: Config, tickets: StudioTickets): Pick<HttpParts, 'studio'> {
  if (!config.managementApiEnabled) return {};
  const { ref, api } = core.management;
  const redeemTicket = (ticket: string) => tickets.redeem(ticket);
  return { studio: { redeemTicket, ref, api, explain: createExplainer(core.reflector, core.systemPool) } };
}

function addressOf(app: HttpServer): { readonly url: string; readonly port: number } {
  const address = app.server.address() as AddressInfo | null;
  if (address === null) return { url: '', port: 0 };
  const anywhere = address.address === '::' || address.address === '0.0.0.0';
  const host = anywhere ? 'localhost' : address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return { url: `http://${host}:${address.port}`, port: address.port };
}

function metricSources(core: Core, auth: OpenAuth | null, clock: Clock): MetricSources {
  const { apiPool, systemPool, authPool, replicas, reflector } = core;
  return {
    pools: () => ({
      ...{ api: apiPool.state(), system: systemPool.state(), auth: authPool.state() },
      ...Object.fromEntries(replicas?.states().map(({ number, pool }) => [`replica ${number}`, pool]) ?? []),
    }),
    replicas: () => replicas?.states() ?? [],
    modelAgeMs: () => {
      const since = reflector.current()?.readStartedAt;
      return since === undefined ? null : performance.now() - since;
    },
    documents: () => reflector.current()?.documentCounts ?? { hits: 0, misses: 0 },
    outbox: async () => {
      const state = async () =>
        (await auth?.auth.isInstalled()) ? await readOutboxState(authPool, clock.now()) : null;
      return state().catch(() => null);
    },
  };
}
