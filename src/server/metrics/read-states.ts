/** The series that are the state of the gateway's parts, read at each scrape. */
import type { ReplicaState } from '../../postgres/pool/replica.ts';
import type { PoolState } from '../../postgres/wire/pool-state.ts';
import { finishesWithin } from '../../shared/finishes-within.ts';
import type { SeriesName } from './series.ts';
import type { SeriesSample, Snapshot } from './snapshot.ts';

/** The state of a gateway's parts. */
export interface MetricSources {
  /** Whether requests can be answered, as `/ready` says. */
  readonly isReady: () => Promise<boolean>;
  readonly requestsInFlight: () => number;
  /** By the name of the pool. */
  readonly pools: () => Readonly<Record<string, PoolState>>;
  readonly replicas: () => readonly ReplicaState[];
  /** Age of the model in milliseconds; null without a model. */
  readonly modelAgeMs: () => number | null;
  /** Cache hits and misses of parsed and validated documents. */
  readonly documents: () => { readonly hits: number; readonly misses: number };
  readonly live: () => LiveState;
  /** Null without an outbox, or if it cannot be read now. */
  readonly outbox: () => Promise<OutboxState | null>;
}

interface OutboxState {
  readonly waiting: number;
  readonly oldestSeconds: number;
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

/** Longest wait for the database, in milliseconds: a scrape comes in time although the database does not answer. */
const patienceMs = 1000;

/** Reads all. */
export async function readStates(sources: MetricSources): Promise<Snapshot> {
  const [isReady, outbox] = await Promise.all([inTime(sources.isReady(), false), inTime(sources.outbox(), null)]);
  const { hits, misses } = sources.documents();
  return {
    pgreflect_ready: one(isReady ? 1 : 0),
    pgreflect_processes: one(1),
    pgreflect_http_requests_in_flight: one(sources.requestsInFlight()),
    pgreflect_graphql_document_lookups_total: [by('hit', hits), by('miss', misses)],
    pgreflect_model_age_seconds: known(sources.modelAgeMs(), seconds),
    ...readPools(sources.pools()),
    pgreflect_replica_used: sources.replicas().map(({ number, isUsed }) => by(String(number), isUsed ? 1 : 0)),
    pgreflect_replica_lag_seconds: sources
      .replicas()
      .flatMap(({ number, lagMs }) => known(lagMs, (ms) => by(String(number), ms / 1000))),
    ...readLive(sources.live()),
    pgreflect_email_queue_messages: known(outbox, ({ waiting }) => of(waiting)),
    pgreflect_email_queue_oldest_seconds: known(outbox, ({ oldestSeconds }) => of(oldestSeconds)),
  };
}

function readPools(pools: MetricSources['pools'] extends () => infer P ? P : never): Snapshot {
  const each = (read: (pool: PoolState) => number | null) =>
    Object.entries(pools).flatMap(([name, pool]) => known(read(pool), (value) => by(name, value)));
  return {
    pgreflect_pool_connections: Object.entries(pools).flatMap(([name, { open, idle }]) => [
      { labels: [name, 'idle'], value: idle },
      { labels: [name, 'used'], value: open - idle },
    ]),
    pgreflect_pool_connections_max: each(({ size }) => size),
    pgreflect_pool_waiting_requests: each(({ waiting }) => waiting),
    pgreflect_pool_wait_duration_seconds: Object.entries(pools).map(([name, { waits }]) => ({
      labels: [name],
      value: waits.sum,
      counts: [...waits.counts],
    })),
    pgreflect_pool_refused_total: each(({ refused }) => refused),
    pgreflect_pool_flights_total: each(({ flights }) => flights),
    pgreflect_pool_batches_total: each(({ batches }) => batches),
  };
}

function readLive({ subscriptions, groups, exactGroups, isExact, runs, events, lagMs }: LiveState): Snapshot {
  return {
    pgreflect_live_subscriptions: one(subscriptions),
    pgreflect_live_groups: [by('exact', exactGroups), by('interval', groups - exactGroups)],
    pgreflect_live_exact: one(isExact ? 1 : 0),
    pgreflect_live_runs_total: one(runs),
    pgreflect_live_events_total: one(events),
    pgreflect_live_lag_seconds: one(lagMs / 1000),
  } satisfies Partial<Record<SeriesName, readonly SeriesSample[]>>;
}

const of = (value: number): SeriesSample => ({ labels: [], value });
const one = (value: number): readonly SeriesSample[] => [of(value)];
const by = (label: string, value: number): SeriesSample => ({ labels: [label], value });
const seconds = (ms: number): SeriesSample => of(ms / 1000);

/** Nothing for what is unknown. */
function known<T>(value: T | null, sample: (value: T) => SeriesSample): readonly SeriesSample[] {
  return value === null ? [] : [sample(value)];
}

/** @param otherwise If it takes too long. */
async function inTime<T>(asked: Promise<T>, otherwise: T): Promise<T> {
  return (await finishesWithin(patienceMs, asked)) ? asked : otherwise;
}
