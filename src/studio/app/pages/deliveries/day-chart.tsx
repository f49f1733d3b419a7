/** The emails of the last day, hour by hour: those that were sent, and those that were not. */
import { useMemo } from 'react';
import type { Delivery } from '../../../../management/deliveries/deliveries.ts';
import { Chart, type Series } from '../../components/chart.tsx';
import { listDeliveries } from '../../shared/deliveries.ts';
import { useAnswer } from '../../shared/requests.ts';

/** The most that a request answers; a busier day is drawn in part, which the title says. */
const most = 200;

const hours = 24;
const hourMs = 3_600_000;

/** The chart; nothing without emails. */
export function DayChart() {
  const { value } = useAnswer('deliveries of the day', (signal) => listDeliveries(`limit=${most}`, signal));
  const day = useMemo(() => (value === null ? null : dayOf(value, Date.now())), [value]);
  if (day === null) return <div className="day-chart" />;
  const [others, captured, sent] = day.series.map(({ values }) =>
    values.reduce((sum: number, each) => sum + (each ?? 0), 0),
  );
  const all = (others ?? 0) + (captured ?? 0) + (sent ?? 0);
  if (all === 0) return null;
  const title = value?.length === most && all === most ? `The latest ${most} emails` : 'Last 24 hours';
  const inInbox = captured === 0 ? '' : `, ${captured} in the inbox`;
  const words = `${sent} sent${inInbox}, ${others} not sent`;
  return (
    <div className="day-chart">
      <Chart title={`${title}: ${words}`} {...day} unit="" words="Emails by the hour." isBars />
    </div>
  );
}

/** The oldest hour first. */
function dayOf(deliveries: readonly Delivery[], now: number) {
  const last = Math.floor(now / hourMs);
  const none = () => new Array<number>(hours).fill(0);
  const counts = { others: none(), captured: none(), sent: none() };
  for (const { createdAt, state } of deliveries) {
    const at = hours - 1 - (last - Math.floor(Date.parse(createdAt) / hourMs));
    const of = counts[state === 'sent' || state === 'captured' ? state : 'others'];
    if (at >= 0 && at < hours) of[at] = (of[at] ?? 0) + 1;
  }
  const series: readonly Series[] = [
    { title: 'Not sent', color: '--chart-fault', values: counts.others },
    { title: 'In the inbox', color: '--chart-rest', values: counts.captured },
    { title: 'Sent', color: '--chart-main', values: counts.sent },
  ];
  return { times: none().map((_, at) => ((last - hours + 1 + at) * hourMs) / 1000), series };
}
