/** The last hour as three charts: requests with errors, durations, and the pool of connections. */
import { useMemo } from 'react';
import type { Usage, UsageMinute } from '../../../server/recent/recent-schemas.ts';
import { durationText } from '../shared/recent.ts';
import { Chart, type Series } from './chart.tsx';

/** The charts. */
export function UsageCharts({ usage }: { readonly usage: Usage }) {
  const { minutes } = usage;
  // A chart is drawn anew for other arrays.
  const drawn = useMemo(() => draw(minutes), [minutes]);
  const total = (read: (minute: UsageMinute) => number) => minutes.reduce((sum, minute) => sum + read(minute), 0);
  const requests = total((minute) => minute.requests);
  const slowest = Math.max(0, ...minutes.map(({ p95Ms }) => p95Ms ?? 0));
  const [used, size] = [
    Math.max(0, ...minutes.map(({ connectionsUsed }) => connectionsUsed)),
    Math.max(0, ...minutes.map(({ connectionsMax }) => connectionsMax)),
  ];
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls where there is little room
    <section className="usage-charts" aria-label="The last hour" tabIndex={0}>
      <RequestsChart usage={usage} />
      <Chart
        title="Duration in ms"
        times={drawn.times}
        series={drawn.durations}
        unit="ms"
        words={
          requests === 0
            ? 'No request in the last hour.'
            : `Of the slowest minute, 95 % took ${durationText(slowest)} at most.`
        }
      />
      <Chart
        title="Database connections"
        times={drawn.times}
        series={drawn.pool}
        unit=""
        words={`At most ${used} of ${size} were used at a time.`}
      />
    </section>
  );
}

/** The requests of the last hour, those with errors on top. */
export function RequestsChart({ usage: { minutes } }: { readonly usage: Usage }) {
  const { times, requests } = useMemo(() => draw(minutes), [minutes]);
  const [all, failed] = [sum(minutes.map((minute) => minute.requests)), sum(minutes.map(failedOf))];
  const words = `${all.toLocaleString()} requests in the last hour, ${failed.toLocaleString()} with an error.`;
  return <Chart title="Requests a minute" times={times} series={requests} unit="" words={words} isBars />;
}

/** Requests of a minute that ended with an error. */
function failedOf({ clientErrors, serverErrors, refused }: UsageMinute): number {
  return clientErrors + serverErrors + refused;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function draw(minutes: Usage['minutes']) {
  const line = (title: string, color: string, read: (minute: UsageMinute) => number | null): Series => ({
    title,
    color,
    values: minutes.map(read),
  });
  return {
    times: minutes.map(({ time }) => Date.parse(time) / 1000),
    requests: [
      line('Server errors', '--chart-fault', ({ serverErrors }) => serverErrors),
      line('Client errors', '--chart-warn', ({ clientErrors, refused }) => clientErrors + refused),
      line('Others', '--chart-main', (minute) => minute.requests - failedOf(minute)),
    ],
    durations: [
      line('p99', '--chart-fault', ({ p99Ms }) => p99Ms),
      line('p95', '--chart-warn', ({ p95Ms }) => p95Ms),
      line('p50', '--chart-main', ({ p50Ms }) => p50Ms),
    ],
    pool: [
      line('Used', '--chart-main', ({ connectionsUsed }) => connectionsUsed),
      line('Waiting', '--chart-fault', ({ requestsWaiting }) => requestsWaiting),
    ],
  };
}
