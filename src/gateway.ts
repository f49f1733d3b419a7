/**
 * Composition root: opens the two wings and the management API from a configuration, connects them, and owns start,
 * reload and stop. No decisions about requests are made here.
 */
import type { AddressInfo } from 'node:net';
import { createAuthPool } from './auth/auth-pool.ts';
import { type OpenAuth, openAuth } from './auth/open-auth.ts';
import type { PasswordHasher } from './auth/secrets/passwords.ts';
import { type AppliedChange, changeOptions } from './change-options.ts';
import { type Checker, createChecker } from './check/open-check.ts';
import { type Config, hasAdminConnection } from './config/config.ts';
import { LiveConfig } from './config/live-config.ts';
import { loggingOf } from './config/logging.ts';
import { readOutboxState } from './email/outbox/outbox.ts';
import { quotePath } from './graphql/catalog/quote-name.ts';
import { createSchemaDescriber, createSchemaPrinter } from './graphql/execute/describe-schema.ts';
import { createTableDescriber } from './graphql/execute/describe-table.ts';
import { createExplainer } from './graphql/execute/explain-operation.ts';
import { createKeyReader } from './graphql/execute/read-keys.ts';
import type { Reflector } from './graphql/execute/reflector.ts';
import type { Model, Table } from './graphql/model/model.ts';
import { type Graphql, openGraphql } from './graphql/open-graphql.ts';
import { decodeText, readRequest } from './graphql/routes/read-request.ts';
import { readAccessOverview } from './management/access/read-access.ts';
import { isProjectToken, mayReadEmails, mayReadSchemas } from './management/authorize.ts';
import { createOperatorCheck } from './management/find-operator.ts';
import { type Management, openManagement } from './management/open-management.ts';
import type { ManagementParts } from './management/routes/management-parts.ts';
import type { AuthStart } from './management/templates/configured-templates.ts';
import type { OwnPool } from './postgres/migrations/own-pool.ts';
import { runStatements } from './postgres/system/run-statements.ts';
import { loginOf } from './postgres/wire/login.ts';
import { busyness, createReporter, type Gather, type Reports, readersOf, type Wanted } from './reports.ts';
import { addRoutes, type RouteParts } from './routes.ts';
import { createAuthenticator } from './server/caller/authenticate.ts';
import { closeServer, createHttpServer, type HttpServer } from './server/create-http-server.ts';
import { createReadiness, type Readiness } from './server/health.ts';
import { Meter } from './server/metrics/metrics.ts';
import { openMetrics } from './server/metrics/metrics-route.ts';
import type { MetricSources } from './server/metrics/read-states.ts';
import type { Snapshot } from './server/metrics/snapshot.ts';
import { authUrlOf, studioPath } from './server/paths.ts';
import { Recent } from './server/recent/recent.ts';
import type { Traffic } from './server/track-requests.ts';
import { type Clock, systemClock } from './shared/clock.ts';
import { runInTurn } from './shared/in-turn.ts';
import { createLogger } from './shared/logger.ts';
import { mergeCalls } from './shared/merge-calls.ts';
import type { Observe } from './shared/observation.ts';
import { openTracer } from './shared/trace/otlp/open-tracer.ts';
import type { InboxParts } from './studio/routes/studio-parts.ts';
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
  readMetrics(): Promise<Snapshot>;
  /** What this process tells of itself. */
  report(wanted: Wanted): Promise<Reports[keyof Reports]>;
  /** What answers GraphQL requests, for programs that ask it without HTTP. */
  readonly graphql: Pick<Graphql, 'executor' | 'live' | 'reflector'>;
  /** The HTTP server, for programs that send requests directly (`app.inject`, `app.routing`). */
  readonly app: HttpServer;
  /** Reads the catalog again in any case. Rejects if the database refuses; the old model stays. */
  reload(reason?: string): Promise<void>;
  /** The model of a role; null for an unknown one. @throws DatabaseError if the schema cannot be read. */
  model(role: string): Promise<Model | null>;
  /** Objects missing from a role's schema, with reasons, of at most 200 tables; null for an unknown role. Rejects as `model` does. */
  readonly hints: Reflector['hints'];
  /** Exposes other namespaces from now on; null: the login role's search path. */
  expose(schemas: readonly string[] | null): Promise<void>;
  /** Path of the studio with a single-use token that signs in; each call makes a new one. */
  studioEntry(): string;
  /**
   * Takes over what changes in place; exposed schemas and the auth configuration have ways of their own.
   *
   * @throws ConfigError with every problem; nothing has changed then.
   */
  changeOptions(next: Config): Promise<AppliedChange>;
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
  /** Number of this worker process, from 1; absent: it is none. */
  readonly worker?: number | undefined;
  /** Collects the reports of all processes that share the port, including this one; absent: there is only this one. */
  readonly gather?: Gather;
}

/**
 * Starts a gateway. When the promise resolves, the schema was read or the database found unavailable.
 *
 * @throws DatabaseError if the database refuses the login or the reading; an error of the operating system, for example
 *   `EADDRINUSE`, if it cannot listen. Everything is closed again then.
 */
export async function startGateway(start: Config, extras: GatewayExtras = {}): Promise<Gateway> {
  const live = new LiveConfig(start);
  const config = live.current;
  const { clock = systemClock } = extras;
  const began = performance.now();
  const { log, flush } = await openLog(config, extras);
  const meter: Meter = new Meter(() => metricSources(parts));
  const recent = new Recent(extras.worker);
  const observe = observeWith({ meter, recent, log, onReload: () => authPool.lookAgain() });
  const tracer = await openTracer(process.env, { observe, inDatabase: config.traceInDatabase });
  const graphql = openGraphql(config, { observe, tracer });
  const authPool = createAuthPool(config, observe, graphql.suspect);
  const management = openManagement({ config, authUrl: authUrlOf(config), pool: authPool, clock, observe });
  const ready = createReadiness(() => graphql.executor.notReady(), graphql.systemPool);
  const checker = createChecker({ config, clock, schemaAgeMs: () => graphql.state().modelAgeMs });
  const opens = { config, clock, graphql, authPool, management, checker, ready, traffic: { inFlight: 0 } };
  const parts: Parts = { ...opens, meter, recent, auth: null };
  const tickets = new StudioTickets(clock);
  // Closes in reverse order of opening.
  const opened = new AsyncDisposableStack();
  for (const part of [tracer, recent, checker, authPool, management, graphql]) opened.defer(() => part.stop());
  try {
    await Promise.all([graphql.start(), management.loaded]);
    const readAt = performance.now();
    const authenticate = await createAuthenticator(config, clock, observe);
    const { hasher, minRefusalMs } = extras;
    const given = { hasher, minRefusalMs, database: authPool, configStore: management.store, onLost: graphql.suspect };
    const findOperator = config.managementApiEnabled ? createOperatorCheck(management.counted) : null;
    const { verifyToken } = authenticate;
    parts.auth = await openAuth({ config, clock, observe, tracer, findOperator, verifyToken, ...given });
    opened.defer(() => parts.auth?.stop());
    if (parts.auth !== null) graphql.live.watchSessions(parts.auth.findSessions);
    const authAt = performance.now();
    const { project } = management;
    const isAuthorized = (token: string | null, from: string) => isProjectToken(project, { token, from });
    const metering = { config, meter, isAuthorized, gather: seriesOf(extras) };
    const { parts: metrics, server } = await openMetrics(metering);
    opened.defer(() => server?.stop());
    const graphiqlApiKey = extras.graphiqlApiKey ?? (config.localProject ? config.anonKey : null);
    const app = await createHttpServer({ config, observe, ready, traffic: opens.traffic, metrics, tracer }, (http) => {
      const { executor, live } = graphql;
      const shared = { config, observe, tracer, authenticate, executor, live, graphiqlApiKey };
      return addRoutes(http, { ...shared, ...routeParts(parts, tickets, extras.gather) });
    });
    opened.defer(() => closeServer(app, config.drainTimeoutMs));
    await app.ready();
    if (extras.listen ?? true) await app.listen({ host: config.host, port: config.port });
    const address = addressOf(app);
    const took = { ...timesOf(began, readAt, authAt), serverMs: performance.now() - authAt };
    if (address.url !== '') observe({ kind: 'listening', url: address.url, took });
    graphql.warm();
    recent.watch(() => busyness(graphql));
    const facts = { ...address, metricsPort: server?.port ?? null, app, graphql };
    const change = (next: Config) => changeOptions({ live, authenticate, auth: parts.auth }, next);
    return { ...facts, ...controlsOf(parts, tickets), changeOptions: change, stop: stopOnce(opened, observe, flush) };
  } catch (error) {
    await opened.disposeAsync();
    flush();
    throw error;
  }
}

/** Collects the series of all processes; absent: there is only this one. */
function seriesOf({ gather }: GatewayExtras) {
  return gather && (() => gather({ what: 'series' }));
}

interface Observers {
  readonly meter: Meter;
  readonly recent: Recent;
  readonly log: Observe;
  readonly onReload: () => void;
}

function observeWith({ meter, recent, log, onReload }: Observers): Observe {
  return poolerOnce((observation) => {
    if (observation.kind === 'reloaded') onReload();
    meter.observe(observation);
    recent.observe(observation);
    log(observation);
  });
}

/** Each pool finds out by itself that there is a pooler. */
function poolerOnce(observe: Observe): Observe {
  let isNoted = false;
  return (observation) => {
    if (observation.kind === 'prepared_statements_off') {
      if (isNoted) return;
      isNoted = true;
    }
    observe(observation);
  };
}

/** How long the first parts of the start took, in milliseconds. */
function timesOf(began: number, readAt: number, authAt: number) {
  return { loadMs: began, schemaMs: readAt - began, authMs: authAt - readAt };
}

interface Parts {
  readonly config: Config;
  readonly clock: Clock;
  readonly graphql: Graphql;
  /** For the tables of the auth service, which the login of requests may not be able to read. */
  readonly authPool: OwnPool;
  readonly management: Management;
  readonly checker: Checker;
  readonly ready: Readiness;
  readonly traffic: Traffic;
  readonly meter: Meter;
  readonly recent: Recent;
  /** Null until it is open, and if no key signs tokens. */
  auth: OpenAuth | null;
}

async function openLog(config: Config, { observe, worker }: GatewayExtras) {
  if (observe !== undefined) return { log: observe, flush: () => {} };
  const logger = await createLogger(loggingOf(config, worker));
  return { log: logger.observe, flush: () => logger.flush() };
}

function controlsOf(parts: Parts, tickets: StudioTickets) {
  const { graphql, management, meter } = parts;
  const { reflector } = graphql;
  return {
    readMetrics: () => meter.read(),
    report: createReporter(parts),
    reload: (reason = 'asked') => reflector.reload(reason),
    model: async (role: string) => (await reflector.role(role, null))?.shared.model ?? null,
    hints: (role: string) => reflector.hints(role),
    expose: (schemas: readonly string[] | null) => reflector.expose(schemas),
    studioEntry: () => `${studioPath}#token=${tickets.issue()}`,
    configureAuth: (start: AuthStart) => management.configure(start),
  };
}

function stopOnce(opened: AsyncDisposableStack, observe: Observe, flush: () => void): () => Promise<void> {
  let stopping: Promise<void> | null = null;
  async function stop(): Promise<void> {
    observe({ kind: 'stopping' });
    await opened.disposeAsync();
    observe({ kind: 'stopped' });
    flush();
  }
  return () => {
    stopping ??= stop();
    return stopping;
  };
}

function routeParts(
  parts: Parts,
  tickets: StudioTickets,
  gather?: Gather,
): Pick<RouteParts, 'auth' | 'inbox' | 'management' | 'schemas' | 'studio'> {
  const { config, graphql, management, auth } = parts;
  const { project } = management;
  const mayRead = (token: string, from: string) => mayReadSchemas(project, { token, from });
  const printSchema = createSchemaPrinter(graphql.reflector);
  const service = {
    ...(auth !== null && { auth: auth.auth, inbox: inboxParts(auth, parts) }),
    schemas: { printSchema, mayRead: config.managementApiEnabled ? mayRead : null },
  };
  if (!config.managementApiEnabled) return service;
  return {
    ...service,
    management: managementParts(parts, gather),
    studio: { project: management.project, redeemTicket: (ticket) => tickets.redeem(ticket) },
  };
}

function inboxParts({ inbox, isCaptured }: OpenAuth, { config, management }: Parts): InboxParts {
  const { project } = management;
  const verifyAccessToken = (token: string, from: string) => mayReadEmails(project, { token, from }).catch(() => false);
  return { inbox, isCaptured, verifyAccessToken, isOpen: config.localProject };
}

function managementParts(parts: Parts, gather?: Gather): ManagementParts {
  const { config, graphql, management, auth, checker } = parts;
  const explain = createExplainer(graphql.reflector, graphql.systemPool);
  const readKeys = createKeyReader(graphql.reflector);
  // They may wait for locks and functions of users: the catalog is read on the other connections.
  const inTurn = runInTurn();
  return {
    ...management.counted,
    config,
    auth: auth?.auth ?? null,
    explain: ({ role, claims, body }) => inTurn(async () => explain(role, claims, readRequest(decodeText(body)))),
    describeSchema: createSchemaDescriber(graphql.reflector),
    describeTable: createTableDescriber(graphql.reflector),
    readAccess: mergeCalls(() =>
      inTurn(async () =>
        readAccessOverview(graphql.systemPool, {
          schemas: config.schemas,
          roles: accessRolesOf(config),
          anon: visitorsOf(config),
          keyOf: await readKeys(),
        }),
      ),
    ),
    runStatements: hasAdminConnection(config)
      ? (text) => runStatements(loginOf(config, 'adminDatabaseUrl'), text)
      : null,
    recent: readersOf(parts, gather),
    health: healthParts(parts),
    check: () => checker.read(),
  };
}

/** Those of the keys first. */
function accessRolesOf({ anonRole, authenticatedRole, serviceRole, allowedRoles }: Config): readonly string[] {
  return [...new Set([anonRole, authenticatedRole, serviceRole, ...(allowedRoles === '*' ? [] : allowedRoles)])];
}

/** With one role for all callers, some have a user. */
function visitorsOf({ anonRole, authenticatedRole }: Config): string | null {
  return anonRole === authenticatedRole ? null : anonRole;
}

function healthParts({ config, clock, graphql, authPool, auth, ready }: Parts): ManagementParts['health'] {
  return {
    config,
    ready,
    schemaAgeMs: () => graphql.state().modelAgeMs,
    isLiveExact: () => graphql.state().live.isExact,
    async tablesOf(role) {
      const model = (await graphql.reflector.role(role, null))?.shared.model;
      if (model === undefined) return null;
      const facts = ({ namespace, name, kind, rowSecurity }: Table) => ({
        name: quotePath(namespace, name),
        kind,
        rowSecurity,
      });
      return [...model.tables.values()].map(facts);
    },
    outbox: () => outboxOf({ clock, authPool, auth }),
  };
}

/** Null without an outbox, or if it cannot be read now. */
async function outboxOf({ clock, authPool, auth }: Pick<Parts, 'clock' | 'authPool' | 'auth'>) {
  const state = async () => ((await auth?.auth.isInstalled()) ? await readOutboxState(authPool, clock.now()) : null);
  return state().catch(() => null);
}

function addressOf(app: HttpServer): { readonly url: string; readonly port: number } {
  const address = app.server.address() as AddressInfo | null;
  if (address === null) return { url: '', port: 0 };
  const anywhere = address.address === '::' || address.address === '0.0.0.0';
  const host = anywhere ? 'localhost' : address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return { url: `http://${host}:${address.port}`, port: address.port };
}

function metricSources({ clock, graphql, authPool, auth, ready, traffic }: Parts): MetricSources {
  return {
    isReady: async () => (await ready()) === null,
    requestsInFlight: () => traffic.inFlight,
    pools: () => ({ ...graphql.state().pools, auth: authPool.state() }),
    replicas: () => graphql.state().replicas,
    modelAgeMs: () => graphql.state().modelAgeMs,
    documents: () => graphql.state().documents,
    live: () => graphql.state().live,
    outbox: () => outboxOf({ clock, authPool, auth }),
  };
}
