/** What a process tells of itself, and what all processes of a gateway tell together. */
import type { Config } from './config/config.ts';
import { mergeOperations } from './graphql/live/live-operations.ts';
import type { Graphql } from './graphql/open-graphql.ts';
import type { PoolState } from './postgres/wire/pool-state.ts';
import type { Meter } from './server/metrics/metrics.ts';
import type { Snapshot } from './server/metrics/snapshot.ts';
import type { LiveOperationState, LiveTarget } from './server/recent/live-schemas.ts';
import { mergeMinutes, mergeRequests } from './server/recent/merge-recent.ts';
import type { MinuteCounts } from './server/recent/minutes.ts';
import type { Recent } from './server/recent/recent.ts';
import type { KeptRequests, RequestFilter } from './server/recent/recent-schemas.ts';

/** What a process tells of itself. */
export interface Reports {
  readonly series: Snapshot;
  readonly live: readonly LiveOperationState[];
  /** How many subscriptions it has ended. */
  readonly ended: number;
  readonly requests: KeptRequests;
  readonly minutes: readonly MinuteCounts[];
}

/** A report that is wanted of a process. */
export interface Wanted<K extends keyof Reports = keyof Reports> {
  readonly what: K;
  /** Of `requests`. */
  readonly filter?: RequestFilter;
  /** What is `ended`. */
  readonly target?: LiveTarget;
}

/** Collects the reports of the processes that answer in time. */
export type Gather = <K extends keyof Reports>(wanted: Wanted<K>) => Promise<readonly Reports[K][]>;

interface ReporterParts {
  readonly graphql: Graphql;
  readonly recent: Recent;
  readonly meter: Meter;
}

/** Makes what reports on this process. */
export function createReporter({ graphql, recent, meter }: ReporterParts) {
  return async ({ what, filter, target }: Wanted): Promise<Reports[keyof Reports]> => {
    if (what === 'series') return meter.read();
    if (what === 'live') return graphql.live.operations();
    if (what === 'ended') return target === undefined ? 0 : graphql.live.end(target);
    return what === 'requests' && filter !== undefined ? recent.requests(filter) : recent.minutes();
  };
}

/** What the processes of a gateway tell together. @param gather Absent: there is only this one. */
export function readersOf(
  { graphql, recent, config }: Omit<ReporterParts, 'meter'> & { readonly config: Config },
  gather?: Gather,
) {
  async function collect<K extends keyof Reports>(wanted: Wanted<K>, own: () => Reports[K]) {
    const reports = gather === undefined ? [own()] : await gather(wanted);
    return { reports, facts: { processes: gather === undefined ? 1 : config.workers, answered: reports.length } };
  }
  return {
    async live() {
      const { reports, facts } = await collect({ what: 'live' }, () => graphql.live.operations());
      return { ...facts, operations: mergeOperations(reports.flat()) };
    },
    async endLive(target: LiveTarget) {
      const { reports } = await collect({ what: 'ended', target }, () => graphql.live.end(target));
      return { ended: reports.reduce((sum, count) => sum + count, 0) };
    },
    async requests(filter: RequestFilter) {
      const { reports, facts } = await collect({ what: 'requests', filter }, () => recent.requests(filter));
      return { ...facts, ...mergeRequests(reports, filter) };
    },
    async usage() {
      const { reports, facts } = await collect({ what: 'minutes' }, () => recent.minutes());
      return { ...facts, minutes: mergeMinutes(reports, Date.now()) };
    },
  };
}

/** How busy a process is. */
export function busyness(graphql: Graphql) {
  const { pools, live } = graphql.state();
  return { pool: pools.api as PoolState, liveEvents: live.events };
}
