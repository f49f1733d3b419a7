/** The last requests and minutes of several processes as those of one gateway. */
import { durationBounds, keptMinutes, type MinuteCounts, minuteOf } from './minutes.ts';
import type { KeptRequests, RequestFilter, UsageMinute } from './recent-schemas.ts';

/** The newest of all. */
export function mergeRequests(reports: readonly KeptRequests[], { limit }: Pick<RequestFilter, 'limit'>): KeptRequests {
  const all = reports.flatMap(({ requests }) => requests);
  // One process has them in order.
  if (reports.length > 1) all.sort((one, other) => (one.time < other.time ? 1 : one.time > other.time ? -1 : 0));
  const ends = [...reports.map(({ since }) => since), all.length < limit ? null : (all[limit - 1]?.time ?? null)];
  // Times of one format are in the order of their texts.
  const since = ends.filter((end) => end !== null).sort();
  return { since: since.at(-1) ?? null, requests: all.slice(0, limit) };
}

/** Each of the last minutes, oldest first, also those in which nothing happened. @param now Milliseconds since the epoch. */
export function mergeMinutes(reports: readonly (readonly MinuteCounts[])[], now: number): readonly UsageMinute[] {
  const byMinute = Map.groupBy(reports.flat(), ({ minute }) => minute);
  const first = minuteOf(now) - keptMinutes + 1;
  return Array.from({ length: keptMinutes }, (_, at) => summarize(first + at, byMinute.get(first + at) ?? []));
}

function summarize(minute: number, parts: readonly MinuteCounts[]): UsageMinute {
  const sum = (read: (part: MinuteCounts) => number) => parts.reduce((total, part) => total + read(part), 0);
  const durations = durationBounds.map((_, at) => sum((part) => part.durations[at] as number));
  durations.push(sum((part) => part.durations[durationBounds.length] as number));
  return {
    time: new Date(minute * 60_000).toISOString(),
    requests: sum(({ outcomes }) => Object.values(outcomes).reduce((total, count) => total + count, 0)),
    clientErrors: sum(({ outcomes }) => outcomes.client_error),
    serverErrors: sum(({ outcomes }) => outcomes.server_error),
    refused: sum(({ outcomes }) => outcomes.refused),
    aborted: sum(({ outcomes }) => outcomes.aborted),
    p50Ms: percentile(durations, 0.5),
    p95Ms: percentile(durations, 0.95),
    p99Ms: percentile(durations, 0.99),
    connectionsUsed: sum(({ pool }) => pool.used),
    connectionsMax: sum(({ pool }) => pool.size),
    requestsWaiting: sum(({ pool }) => pool.waiting),
    signIns: sum(({ signIns }) => signIns),
    authFailures: sum(({ authFailures }) => authFailures),
    emails: sum(({ emails }) => emails),
    emailsFailed: sum(({ emailsFailed }) => emailsFailed),
    liveEvents: sum(({ liveEvents }) => liveEvents),
  };
}

/** The duration that a share of all stays below, estimated within its bounds; null for none. */
export function percentile(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let below = 0;
  for (const [at, count] of counts.entries()) {
    if (count > 0 && below + count >= share * total) {
      const upper = durationBounds[at];
      // Above all bounds, the last one is what is known.
      if (upper === undefined) break;
      const lower = durationBounds[at - 1] ?? 0;
      return round(lower + ((upper - lower) * (share * total - below)) / count);
    }
    below += count;
  }
  return round(durationBounds.at(-1) as number);
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}
