/** The emails of the last day, hour by hour: those that were sent, and those that were not. */
import type { Delivery } from '../../../../management/deliveries/deliveries.ts';
import { listDeliveries } from '../../shared/deliveries.ts';
import { useAnswer } from '../../shared/requests.ts';

/** The most that a request answers; a busier day is drawn in part, which the text says. */
const most = 200;

const hours = 24;
const hourMs = 3_600_000;
const height = 48;
const step = 12;

interface Hour {
  readonly sent: number;
  /** In the inbox, for want of a mail server. */
  readonly captured: number;
  readonly others: number;
}

/** The chart, with its numbers as text; nothing without emails. */
export function DayChart() {
  const { value } = useAnswer('deliveries of the day', (signal) => listDeliveries(`limit=${most}`, signal));
  if (value === null) return null;
  const bars = count(value, Date.now());
  const total = { sent: sum(bars, 'sent'), captured: sum(bars, 'captured'), others: sum(bars, 'others') };
  const all = total.sent + total.captured + total.others;
  if (all === 0) return null;
  const isPart = value.length === most && all === most;
  const captured = total.captured > 0 ? `, ${total.captured} in the inbox` : '';
  const words = `${isPart ? `The latest ${most} emails` : 'Last 24 hours'}: ${total.sent} sent${captured}, ${total.others} not sent.`;
  const tallest = Math.max(...bars.map((bar) => bar.sent + bar.captured + bar.others));
  return (
    <figure className="day-chart">
      <svg viewBox={`0 0 ${hours * step} ${height}`} aria-hidden="true" preserveAspectRatio="none">
        {bars.map((bar, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a bar is its hour
          <Bar key={index} bar={bar} x={index * step} scale={height / tallest} />
        ))}
      </svg>
      <figcaption className="small soft">{words}</figcaption>
    </figure>
  );
}

function Bar({ bar, x, scale }: { readonly bar: Hour; readonly x: number; readonly scale: number }) {
  const [sent, others] = [(bar.sent + bar.captured) * scale, bar.others * scale];
  return (
    <>
      <rect className="sent" x={x + 1} width={step - 2} y={height - sent} height={sent} />
      <rect className="not-sent" x={x + 1} width={step - 2} y={height - sent - others} height={others} />
    </>
  );
}

/** The oldest hour first. */
function count(deliveries: readonly Delivery[], now: number): readonly Hour[] {
  const bars = Array.from({ length: hours }, () => ({ sent: 0, captured: 0, others: 0 }));
  for (const { createdAt, state } of deliveries) {
    const bar = bars[hours - 1 - Math.floor(Math.max(0, now - Date.parse(createdAt)) / hourMs)];
    if (bar !== undefined) bar[state === 'sent' || state === 'captured' ? state : 'others'] += 1;
  }
  return bars;
}

function sum(bars: readonly Hour[], name: keyof Hour): number {
  return bars.reduce((total, bar) => total + bar[name], 0);
}
