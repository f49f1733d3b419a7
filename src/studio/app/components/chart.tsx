/** A small chart of values over time. Whoever rests on it reads the values; screen readers get a sentence instead. */
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useMedia, useStore } from '../shared/store.ts';
import { theme } from '../shared/theme.ts';
import './chart.css';

/** Values at the times of the chart; null: none. */
export interface Series {
  readonly title: string;
  /** A variable of styles/base.css: `--accent`. */
  readonly color: string;
  readonly values: readonly (number | null)[];
}

interface ChartProps {
  readonly title: string;
  /** Seconds since 1970, in order. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  /** Stands behind each value: `ms`. */
  readonly unit: string;
  /** The same as a sentence. */
  readonly words: string;
  readonly isBars?: boolean;
}

const height = 132;

/** The chart. */
export function Chart({ title, times, series, unit, words, isBars = false }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const isDark = useMedia('(prefers-color-scheme: dark)');
  const chosen = useStore(theme);
  // biome-ignore lint/correctness/useExhaustiveDependencies: colours follow the theme
  useEffect(() => {
    const at = place.current;
    if (at === null) return;
    const color = (name: string) => resolve(at, name);
    const plot = new uPlot(
      {
        width: Math.max(1, at.clientWidth),
        height,
        cursor: { y: false, points: { size: 6 } },
        legend: { show: true, live: true },
        scales: { y: { range: (_plot, _low, high) => [0, Math.max(1, (high ?? 0) * 1.1)] } },
        axes: [
          { stroke: color('--text-soft'), grid: { show: false }, ticks: { show: false }, size: 24, font: axisFont },
          {
            stroke: color('--text-soft'),
            grid: { stroke: color('--line'), width: 1 },
            ticks: { show: false },
            size: 46,
            font: axisFont,
          },
        ],
        series: [
          { label: 'Time' },
          ...series.map((each) => ({
            label: each.title,
            stroke: color(each.color),
            width: 1.5,
            points: { show: false },
            value: (_plot: uPlot, value: number | null) => (value === null ? '–' : `${shorten(value)} ${unit}`),
            ...(isBars && { fill: color(each.color), paths: uPlot.paths.bars!({ size: [0.7, 24] }) }),
          })),
        ],
      },
      [[...times], ...series.map(({ values }) => [...values])] as uPlot.AlignedData,
      at,
    );
    const sizes = new ResizeObserver(() => plot.setSize({ width: Math.max(1, at.clientWidth), height }));
    sizes.observe(at);
    return () => {
      sizes.disconnect();
      plot.destroy();
    };
  }, [times, series, unit, isBars, isDark, chosen]);
  return (
    <figure className="chart">
      <figcaption>{title}</figcaption>
      <p className="visually-hidden">{words}</p>
      <div ref={place} className="chart-place" aria-hidden="true" />
    </figure>
  );
}

const axisFont = '11px system-ui, sans-serif';

/** The colour that a variable has here: a canvas does not read variables. */
function resolve(at: HTMLElement, name: string): string {
  at.style.color = `var(${name})`;
  const { color } = getComputedStyle(at);
  at.style.color = '';
  return color;
}

function shorten(value: number): string {
  return value >= 100
    ? Math.round(value).toLocaleString()
    : value.toLocaleString(undefined, { maximumFractionDigits: 1 });
}
