/**
 * Metrics of a process for Prometheus: counts of observations, and the state of the parts at each scrape.
 *
 * Counting starts when needed: at the start with `--metrics-port`, otherwise with the first scrape. Labels come from
 * our own tables and routes, never from requests: no names of users, roles or operations, no paths of clients. Series
 * of several processes are summed unless they say otherwise.
 */
import type { Registry } from 'prom-client';
import type { ReplicaState } from '../../postgres/pool/replica.ts';
import type { PoolState } from '../../postgres/wire/pool-state.ts';
import type { Observe } from '../../shared/observation.ts';

/** The state of a gateway's parts. */
export interface MetricSources {
  /** By the name of the pool. */
  readonly pools: () => Readonly<Record<string, PoolState>>;
  readonly replicas: () => readonly ReplicaState[];
  /** Age of the model in milliseconds; null without a model. */
  readonly modelAgeMs: () => number | null;
  /** Cache hits and misses of parsed and validated documents. */
  readonly documents: () => { readonly hits: number; readonly misses: number };
  readonly live: () => LiveState;
  /** Null without an outbox, or if it cannot be read now. */
  readonly outbox: () => Promise<{ readonly waiting: number; readonly oldestSeconds: number } | null>;
}

/** What live queries a process has. */
export interface LiveState {
  readonly subscriptions: number;
  /** Live queries with another document, variables or caller. */
  readonly groups: number;
  /** Those that run only when a table that they read has changed. */
  readonly exactGroups: number;
  /** Which tables change is recorded in the database. */
  readonly isExact: boolean;
  /** Since the start. */
  readonly runs: number;
  readonly events: number;
  /** Age of the oldest change that no run has seen yet, in milliseconds. */
  readonly lagMs: number;
}

/** A text for Prometheus. */
export interface PrintedMetrics {
  readonly type: string;
  readonly text: string;
}

/** Series of one process, as sent to another process. */
export type MetricSeries = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** The text for Prometheus: the series of all processes together. */
export async function printMetrics(processes: readonly MetricSeries[]): Promise<PrintedMetrics> {
  const { AggregatorRegistry } = await loadLibrary();
  const all = AggregatorRegistry.aggregate([...processes]);
  return { type: all.contentType, text: await all.metrics() };
}

/** Loaded on the first scrape: most gateways are never scraped. */
const loadLibrary = () => import('prom-client');

/** Resolution of the event loop delay in milliseconds: an idle process wakes this often. */
const delayPrecisionMs = 50;

/** The metrics of a process. */
export class Meter {
  readonly #sources: () => MetricSources;
  #count: Observe | null = null;
  #begun: Promise<Registry> | null = null;

  /** @param sources Called when counting starts. */
  constructor(sources: () => MetricSources) {
    this.#sources = sources;
  }

  /** Counts an observation, if counting has started. */
  readonly observe: Observe = (observation) => this.#count?.(observation);

  /** Starts counting, if it has not started yet. */
  begin(): Promise<Registry> {
    this.#begun ??= loadLibrary().then((library) => {
      const registry = new library.Registry();
      const kit = { library, registers: [registry] };
      library.collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: delayPrecisionMs });
      addStates(kit, this.#sources());
      this.#count = createCounts(kit);
      return registry;
    });
    return this.#begun;
  }

  /** The current series of this process. */
  async read(): Promise<MetricSeries> {
    return (await this.begin()).getMetricsAsJSON();
  }
}

interface Kit {
  readonly library: Awaited<ReturnType<typeof loadLibrary>>;
  readonly registers: Registry[];
}

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

function createCounts({ library, registers }: Kit): Observe {
  const named = (name: string, help: string, labelNames: string[] = []) => ({
    name: `pgreflect_${name}`,
    help,
    labelNames,
    registers,
  });
  const counter = (...row: Parameters<typeof named>) => new library.Counter(named(...row));
  const histogram = (...row: Parameters<typeof named>) => new library.Histogram({ ...named(...row), buckets: seconds });
  const requests = counter('requests_total', 'Requests by route, method and status.', ['route', 'method', 'status']);
  const durations = histogram(
    'request_duration_seconds',
    'Time from the arrival of a request to the end of its answer.',
    ['route'],
  );
  const bytes = counter('response_bytes_total', 'Bytes of the bodies of answers, before compression.');
  const aborted = counter('requests_aborted_total', 'Requests whose client went away before the answer.');
  const errors = counter('errors_total', 'Errors in answers by code.', ['code']);
  const events = counter('events_total', 'What is logged beside requests, by kind.', ['kind']);
  const reloads = histogram('model_reload_duration_seconds', 'Time of reading the catalog and building a model.');
  const emails = counter('emails_total', 'Emails by the states that they got into.', ['kind', 'state']);
  const failures = counter('connection_failures_total', 'Connections to the database that could not be made.', [
    'pool',
    'reason',
  ]);
  return (observation) => {
    if (observation.kind === 'connection_failed') {
      return failures.inc({ pool: observation.pool, reason: observation.reason });
    }
    if (observation.kind === 'email') return emails.inc({ kind: observation.email, state: observation.state });
    if (observation.kind !== 'request') {
      events.inc({ kind: observation.kind });
      if (observation.kind === 'reloaded') reloads.observe(observation.durationMs / 1000);
      return;
    }
    const { method, status, codes, totalMs } = observation;
    const route = observation.route ?? 'none';
    requests.inc({ route, method, status });
    durations.observe({ route }, totalMs / 1000);
    bytes.inc(observation.bytes);
    if (observation.aborted) aborted.inc();
    for (const code of codes) errors.inc({ code });
  };
}

/** Label value, and value; null: unknown, and left out. */
type Value = readonly [label: string | number, value: number | null];

/** Name; description; label, empty for none; how to combine processes; the values. */
type State = readonly [
  name: string,
  help: string,
  label: string,
  aggregator: 'sum' | 'min' | 'max',
  values: () => readonly Value[] | Promise<readonly Value[]>,
];

/** Reads the state of the parts at each scrape. */
function addStates(kit: Kit, sources: MetricSources): void {
  const { pools, replicas, modelAgeMs, documents, live } = sources;
  const outbox = once(sources.outbox);
  const ofPools = (read: (pool: PoolState) => number | null) => () =>
    Object.entries(pools()).map(([name, pool]): Value => [name, read(pool)]);
  const states: readonly State[] = [
    ['pool_connections', 'Connections to the database that are open.', 'pool', 'sum', ofPools(({ open }) => open)],
    ['pool_idle_connections', 'Idle database connections.', 'pool', 'sum', ofPools(({ idle }) => idle)],
    ['pool_waiting', 'Requests that wait for a connection.', 'pool', 'sum', ofPools(({ waiting }) => waiting)],
    ['pool_refused_total', 'Requests refused because no database connection was free in time.', 'pool', 'sum', ofPools(({ refused }) => refused)],
    ['flights_total', 'Transactions of requests, each one round trip.', 'pool', 'sum', ofPools(({ flights }) => flights)],
    ['batches_total', 'Writes of one or several transactions together.', 'pool', 'sum', ofPools(({ batches }) => batches)],
    ['replica_used', 'Whether a replica answers queries, by its place among the options.', 'replica', 'min',
      () => replicas().map(({ number, isUsed }) => [number, isUsed ? 1 : 0])],
    ['replica_lag_seconds', 'Age of what a replica has seen.', 'replica', 'max',
      () => replicas().map(({ number, lagMs }) => [number, inSeconds(lagMs)])],
    ['model_age_seconds', 'Time since the catalog of the model in use was read.', '', 'max', () => [['', inSeconds(modelAgeMs())]]],
    ['document_lookups_total', 'Documents by whether they were found parsed and validated.', 'result', 'sum',
      () => [['hit', documents().hits], ['miss', documents().misses]]],
    ['live_subscriptions', 'Subscriptions to live queries.', '', 'sum', () => [['', live().subscriptions]]],
    ['live_groups', 'Live queries with another document, variables or caller.', '', 'sum', () => [['', live().groups]]],
    ['live_exact_groups', 'Live queries that run only when a table that they read has changed.', '', 'sum',
      () => [['', live().exactGroups]]],
    ['live_exact', '1 while changes of tables are recorded and somebody has subscribed.', '', 'max',
      () => [['', live().isExact ? 1 : 0]]],
    ['live_runs_total', 'Runs of live queries.', '', 'sum', () => [['', live().runs]]],
    ['live_events_total', 'Answers of live queries that were sent.', '', 'sum', () => [['', live().events]]],
    ['live_lag_seconds', 'Age of the oldest change that a live query has not seen yet.', '', 'max',
      () => [['', inSeconds(live().lagMs)]]],
    // `max`: every process reads the same table.
    ['outbox_messages', 'Emails that wait to be sent.', '', 'max', async () => [['', (await outbox())?.waiting ?? null]]],
    ['outbox_oldest_seconds', 'Age of the email that has waited longest.', '', 'max',
      async () => [['', (await outbox())?.oldestSeconds ?? null]]],
  ]; // biome-ignore format: a table
  for (const state of states) addState(kit, state);
}

function addState({ library, registers }: Kit, [name, help, label, aggregator, values]: State): void {
  new library.Gauge({
    name: `pgreflect_${name}`,
    help,
    registers,
    aggregator,
    labelNames: label === '' ? [] : [label],
    async collect() {
      const found = await values();
      this.reset();
      for (const [at, value] of found) if (value !== null) this.set(label === '' ? {} : { [label]: at }, value);
    },
  });
}

function inSeconds(ms: number | null): number | null {
  return ms === null ? null : ms / 1000;
}

/** Shares one call among the series of a scrape. */
function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | null = null;
  return () => {
    asked ??= ask().finally(() => {
      asked = null;
    });
    return asked;
  };
}
