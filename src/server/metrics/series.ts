/**
 * Every series of `/metrics` with its type, labels and meaning. `docs/metrics.md` is made of this table.
 *
 * Labels have few values, all from our own tables, routes and options: no users, roles, operations, paths of clients.
 * Names end with their unit, seconds or bytes.
 */
import { bounds, fineBounds } from '../../shared/distribution.ts';

/** One series. */
export interface SeriesDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram' | 'info';
  readonly help: string;
  readonly labels: readonly string[];
  /** How the values of several processes become one. */
  readonly combine: 'sum' | 'min' | 'max';
  /** Of histograms. */
  readonly bounds?: readonly number[];
}

const row =
  (
    type: SeriesDefinition['type'],
    combine: SeriesDefinition['combine'],
    more?: { readonly bounds: readonly number[] },
  ) =>
  (help: string, ...labels: readonly string[]): SeriesDefinition => ({ type, help, labels, combine, ...more });

const counter = row('counter', 'sum');
const gauge = row('gauge', 'sum');
const highest = row('gauge', 'max');
const lowest = row('gauge', 'min');
const histogram = row('histogram', 'sum', { bounds });
const fineHistogram = row('histogram', 'sum', { bounds: fineBounds });

/** Series by what they are about, in the order of the page. */
export const seriesGroups = {
  Requests: {
    pgreflect_http_requests_total: counter('Requests by route, method and status.', 'route', 'method', 'status'),
    pgreflect_http_request_duration_seconds: histogram(
      'Time from the arrival of a request to the end of its answer.',
      'route',
      'outcome',
    ),
    pgreflect_http_requests_in_flight: gauge('Requests that are being answered, without streams.'),
    pgreflect_http_response_bytes_total: counter('Size of the bodies of answers, before compression.'),
    pgreflect_http_connections_refused_total: counter('Connections refused: too many in total or from an address.'),
    pgreflect_http_connections_closed_total: counter(
      'Connections closed: too much memory for large requests and unread answers.',
    ),
    pgreflect_errors_total: counter('Errors in answers by code.', 'code'),
    pgreflect_rate_limited_total: counter('Requests and messages refused by a rate limit.', 'limit'),
  },
  GraphQL: {
    pgreflect_graphql_stage_duration_seconds: fineHistogram(
      'Time of the stages of GraphQL requests, of those that each has reached.',
      'stage',
      'outcome',
    ),
    pgreflect_graphql_document_lookups_total: counter(
      'Documents by whether they were found parsed and validated.',
      'result',
    ),
    pgreflect_model_age_seconds: highest('Time since the catalog of the model in use was read.'),
    pgreflect_model_reload_duration_seconds: histogram('Time of reading the catalog and building a model.', 'outcome'),
  },
  Database: {
    pgreflect_ready: lowest('1 if requests can be answered, as /ready says; 0 if not.'),
    pgreflect_pool_connections: gauge('Open database connections.', 'pool', 'state'),
    pgreflect_pool_connections_max: gauge('Most database connections of a pool.', 'pool'),
    pgreflect_pool_waiting_requests: gauge('Requests that wait for a database connection.', 'pool'),
    pgreflect_pool_wait_duration_seconds: fineHistogram(
      'Wait for a database connection, of transactions that were sent.',
      'pool',
    ),
    pgreflect_pool_refused_total: counter('Requests refused because no connection was free in time.', 'pool'),
    pgreflect_pool_connection_failures_total: counter('Database connections that could not be made.', 'pool', 'reason'),
    pgreflect_pool_flights_total: counter('Transactions of requests, each one round trip.', 'pool'),
    pgreflect_pool_batches_total: counter('Writes of one or several transactions together.', 'pool'),
    pgreflect_replica_used: lowest('1 if a read replica answers queries, by its place among the options.', 'replica'),
    pgreflect_replica_lag_seconds: highest('Age of what a read replica has seen.', 'replica'),
  },
  'Live queries': {
    pgreflect_live_subscriptions: gauge('Open subscriptions.'),
    pgreflect_live_groups: gauge(
      'Live queries with another document, variables or caller, by whether they know which tables they read.',
      'mode',
    ),
    pgreflect_live_exact: highest('1 while changes of tables are recorded and somebody has subscribed.'),
    pgreflect_live_runs_total: counter('Runs of live queries.'),
    pgreflect_live_events_total: counter('Answers of live queries that were sent.'),
    pgreflect_live_lag_seconds: highest('Age of the oldest change that a live query has not seen yet.'),
    pgreflect_live_closed_total: counter('Subscriptions that have ended, by reason.', 'reason'),
  },
  Auth: {
    pgreflect_auth_attempts_total: counter(
      'Sign-ins, sign-ups, refreshes, verifications and second factors by method; result: success, or an error code.',
      'action',
      'method',
      'result',
    ),
    pgreflect_external_call_duration_seconds: histogram(
      'Time of calls to hooks, providers, captcha, mail and text services.',
      'service',
      'name',
      'outcome',
    ),
    pgreflect_emails_total: counter('Emails by the states that they got into.', 'kind', 'state'),
    // `max`: every process reads the same table.
    pgreflect_email_queue_messages: highest('Emails that wait to be sent.'),
    pgreflect_email_queue_oldest_seconds: highest('Age of the email that has waited longest.'),
  },
  Process: {
    pgreflect_build_info: { ...row('info', 'max')('Version of the gateway and of Node.', 'version', 'node') },
    pgreflect_processes: gauge('Processes that answer requests.'),
    pgreflect_events_total: counter('What the log has beside requests, by kind.', 'kind'),
    process_start_time_seconds: lowest('Start of the first process, in Unix time.'),
    process_cpu_seconds_total: counter('CPU time.'),
    process_resident_memory_bytes: gauge('Memory in use.'),
    process_open_fds: highest('Open file descriptors, of the process with the most; Linux only.'),
    process_max_fds: lowest('Most file descriptors that a process may open; Linux only.'),
    nodejs_heap_size_used_bytes: gauge('Heap of JavaScript in use.'),
    nodejs_heap_size_total_bytes: gauge('Heap of JavaScript.'),
    nodejs_heap_used_ratio: highest(
      'Part of the heap that a process may have, of the one that uses most; at 1 it ends.',
    ),
    nodejs_external_memory_bytes: gauge('Buffers outside the heap.'),
    nodejs_eventloop_busy_seconds_total: counter('Time that event loops were busy.'),
    nodejs_eventloop_lag_p50_seconds: highest('Median delay of the event loop since the last scrape.'),
    nodejs_eventloop_lag_p99_seconds: highest('99th percentile of the delay of the event loop since the last scrape.'),
    nodejs_eventloop_lag_max_seconds: highest('Largest delay of the event loop since the last scrape.'),
    nodejs_gc_duration_seconds: fineHistogram('Pauses of the garbage collector.', 'kind'),
  },
} as const satisfies Record<string, Record<string, SeriesDefinition>>;

type Groups = typeof seriesGroups;

/** Name of a series. */
export type SeriesName = { [G in keyof Groups]: keyof Groups[G] }[keyof Groups] & string;

/** All series. */
export const series = Object.assign({}, ...Object.values(seriesGroups)) as Readonly<
  Record<SeriesName, SeriesDefinition>
>;

/** The unit of a series, by its name; null: a number of something. */
export function unitOf(name: string): 'seconds' | 'bytes' | null {
  return (/_(seconds|bytes)(_total)?$/.exec(name)?.[1] ?? null) as 'seconds' | 'bytes' | null;
}
