/**
 * What a process counts for Prometheus: observations as they come, and the state of its parts when somebody asks.
 *
 * Labels come from our own tables and from the routes, never from requests: no name of a user, a role, an operation or a path
 * that a client made up. Series of several processes add up, but for those that say how.
 */
import type { Counter, Gauge, Registry } from 'prom-client';
import type { OutboxState } from '../../email/outbox/outbox.ts';
import type { PoolState } from '../../postgres/pool/pool-state.ts';
import type { ReplicaState } from '../../postgres/pool/replicas.ts';
import type { Observation, Observe } from '../../shared/observation.ts';
import type { PrintedMetrics } from '../server/parts.ts';

/** State of the parts of a gateway. */
export interface MetricSources {
  /** By the name of the pool. */
  readonly pools: () => Readonly<Record<string, PoolState>>;
  readonly replicas: () => readonly ReplicaState[];
  /** Age of the model in milliseconds; null where there is none. */
  readonly modelAgeMs: () => number | null;
  /** Documents that were found parsed and validated, and those that were not. */
  readonly documents: () => { readonly hits: number; readonly misses: number };
  /** Null where there is no outbox, or it cannot be read now. */
  readonly outbox: () => Promise<OutboxState | null>;
}

/** Series of one process, as they travel to another one. */
export type MetricSeries = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** The metrics of a process. */
export interface Metrics {
  readonly observe: Observe;
  /** Every series as it is now. */
  read(): Promise<MetricSeries>;
}

/** The answer to Prometheus: the series of all processes together. */
export async function printMetrics(processes: readonly MetricSeries[]): Promise<PrintedMetrics> {
  const { AggregatorRegistry } = await loadLibrary();
  const all = AggregatorRegistry.aggregate([...processes]);
  return { type: all.contentType, text: await all.metrics() };
}

/** Loaded by the first who wants to know: most gateways count nothing. */
const loadLibrary = () => import('prom-client');

/** How often the delay of the event loop is measured, in milliseconds: an idle process is woken as often. */
const delayPrecisionMs = 50;

/** Begins to count. */
export async function createMetrics(sources: MetricSources): Promise<Metrics> {
  const library = await loadLibrary();
  const registry = new library.Registry();
  const kit = { library, registers: [registry] };
  library.collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: delayPrecisionMs });
  addStates(kit, sources);
  const count = createCounts(kit);
  return {
    observe: (observation) => count(observation),
    read: () => registry.getMetricsAsJSON(),
  };
}

interface Kit {
  readonly library: Awaited<ReturnType<typeof loadLibrary>>;
  readonly registers: Registry[];
}

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Counts what is observed. */
function createCounts(kit: Kit): Observe {
  const requests = new kit.library.Counter({
    ...{ name: 'pgreflect_requests_total', help: 'Requests by route, method and status.' },
    ...{ labelNames: ['route', 'method', 'status'], registers: kit.registers },
  });
  const durations = new kit.library.Histogram({
    ...{
      name: 'pgreflect_request_duration_seconds',
      help: 'Time from the arrival of a request to the end of its answer.',
    },
    ...{ labelNames: ['route'], buckets: seconds, registers: kit.registers },
  });
  const bytes = counter(kit, 'response_bytes_total', 'Bytes of the bodies of answers, before compression.');
  const aborted = counter(kit, 'requests_aborted_total', 'Requests whose client went away before the answer.');
  const errors = counter(kit, 'errors_total', 'Errors in answers by code.', 'code');
  const events = counter(kit, 'events_total', 'What is logged beside requests, by kind.', 'kind');
  const reloads = new kit.library.Histogram({
    ...{ name: 'pgreflect_model_reload_duration_seconds', help: 'Time of reading the catalog and building a model.' },
    ...{ buckets: seconds, registers: kit.registers },
  });
  return (observation: Observation) => {
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

function counter(kit: Kit, name: string, help: string, label?: string): Counter {
  return new kit.library.Counter({
    name: `pgreflect_${name}`,
    help,
    labelNames: label === undefined ? [] : [label],
    registers: kit.registers,
  });
}

/** Looks at the parts when somebody asks. */
function addStates(kit: Kit, sources: MetricSources): void {
  addPools(kit, sources);
  state(kit, 'replica_used', {
    help: 'Whether a replica answers queries, by its place among the options.',
    ...{ label: 'replica', aggregator: 'min' },
    values: () => sources.replicas().map(({ number, isUsed }) => [String(number), isUsed ? 1 : 0]),
  });
  state(kit, 'replica_lag_seconds', {
    help: 'Age of what a replica has seen.',
    ...{ label: 'replica', aggregator: 'max' },
    values: () => sources.replicas().map(({ number, lagMs }) => [String(number), inSeconds(lagMs)]),
  });
  state(kit, 'model_age_seconds', {
    help: 'Time since the catalog of the model in use was read.',
    aggregator: 'max',
    values: () => [['', inSeconds(sources.modelAgeMs())]],
  });
  state(kit, 'document_lookups_total', {
    help: 'Documents by whether they were found parsed and validated.',
    label: 'result',
    values: () => {
      const { hits, misses } = sources.documents();
      return [['hit', hits], ['miss', misses]]; // biome-ignore format: pairs
    },
  });
  const outbox = once(sources.outbox);
  // Each process sees the same table.
  state(kit, 'outbox_messages', {
    help: 'Emails that wait to be sent.',
    aggregator: 'max',
    values: async () => [['', (await outbox())?.waiting ?? null]],
  });
  state(kit, 'outbox_oldest_seconds', {
    help: 'Age of the email that has waited longest.',
    aggregator: 'max',
    values: async () => [['', (await outbox())?.oldestSeconds ?? null]],
  });
}

function addPools(kit: Kit, { pools }: MetricSources): void {
  const of = (read: (pool: PoolState) => number | null) => () =>
    Object.entries(pools()).map(([name, pool]): Value => [name, read(pool)]);
  const add = (name: string, help: string, read: (pool: PoolState) => number | null) =>
    state(kit, name, { help, label: 'pool', values: of(read) });
  add('pool_connections', 'Connections to the database that are open.', ({ open }) => open);
  add('pool_idle_connections', 'Idle database connections.', ({ idle }) => idle);
  add('pool_waiting', 'Requests that wait for a connection.', ({ waiting }) => waiting);
  add(
    'pool_refused_total',
    'Requests refused because no database connection was free in time.',
    ({ refused }) => refused,
  );
  add('flights_total', 'Transactions of requests, each one round trip.', ({ flights }) => flights);
  add('batches_total', 'Writes of one or several transactions together.', ({ batches }) => batches);
}

/** Value of the label, and the value; null: not known, and left out. */
type Value = readonly [label: string, value: number | null];

interface State {
  readonly help: string;
  readonly label?: string;
  /** How several processes are put together; `sum` where nothing is said. */
  readonly aggregator?: 'sum' | 'min' | 'max';
  readonly values: () => readonly Value[] | Promise<readonly Value[]>;
}

/** A value that is looked at when somebody asks. */
function state(kit: Kit, name: string, { help, label, aggregator = 'sum', values }: State): void {
  const gauge: Gauge = new kit.library.Gauge({
    ...{ name: `pgreflect_${name}`, help, registers: kit.registers, aggregator },
    labelNames: label === undefined ? [] : [label],
    async collect() {
      const found = await values();
      gauge.reset();
      for (const [at, value] of found) if (value !== null) gauge.set(label === undefined ? {} : { [label]: at }, value);
    },
  });
}

function inSeconds(ms: number | null): number | null {
  return ms === null ? null : ms / 1000;
}

/** Several series that are looked at together cost one question. */
function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | null = null;
  return () => {
    asked ??= ask().finally(() => {
      asked = null;
    });
    return asked;
  };
}
