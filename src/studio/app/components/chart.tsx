/** A small chart of values over time. Whoever rests on it reads the values; screen readers get a sentence instead. */
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useMedia, useStore } from '../shared/store.ts';
import { theme } from '../shared/theme.ts';
import { minuteText } from './moment.tsx';
import './chart.css';

/** Values at the times of the chart; null: none. */
export interface Series {
  readonly title: string;
  /** A variable of styles/base.css: `--chart-main`. */
  readonly color: string;
  readonly values: readonly (number | null)[];
}

interface ChartProps {
  readonly title: string;
  /** Seconds since 1970, in order. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  /** Stands behind each value: `ms`; empty: whole numbers of things. */
  readonly unit: string;
  /** The same as a sentence. */
  readonly words: string;
  /** Bars on top of each other, the first series at the top. */
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
          {
            stroke: color('--text-soft'),
            grid: { show: false },
            ticks: { show: false },
            size: 24,
            space: 80,
            font: axisFont,
            values: (_plot, at) => at.map((seconds) => minuteText(seconds * 1000)),
          },
          {
            stroke: color('--text-soft'),
            grid: { stroke: color('--line'), width: 1 },
            ticks: { show: false },
            size: 46,
            font: axisFont,
            // Requests and connections are whole.
            ...(unit === '' && { incrs: wholeSteps }),
          },
        ],
        series: [
          {
            label: 'Time',
            value: (_plot: uPlot, at: number | null) => (at === null ? '' : minuteText(at * 1000)),
          },
          ...series.map((each) => ({
            label: each.title,
            stroke: color(each.color),
            width: 1.5,
            // A line needs two values; one alone is a point.
            points: {
              show: !isBars,
              size: 5,
              fill: color(each.color),
              filter: (_plot: uPlot, at: number) => alone(series[at - 1]?.values ?? []),
            },
            // Bars are drawn as sums; this is the value itself.
            value: (_plot: uPlot, _drawn: number | null, _series: number, at: number | null) => {
              if (at === null) return '';
              const value = each.values[at] ?? null;
              return value === null ? '–' : `${shorten(value)} ${unit}`.trim();
            },
            ...(isBars && { fill: color(each.color), paths: uPlot.paths.bars!({ size: [0.7, 24] }) }),
          })),
        ],
      },
      [[...times], ...drawn(series, isBars)] as uPlot.AlignedData,
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

/** Of bars, each is as high as itself and those below it, which are drawn over it; those of nothing are not drawn. */
function drawn(series: readonly Series[], isBars: boolean): readonly (readonly (number | null)[])[] {
  if (!isBars) return series.map(({ values }) => values);
  return series.map(({ values }, from) =>
    values.map((own, at) => (own ? series.slice(from).reduce((sum, each) => sum + (each.values[at] ?? 0), 0) : null)),
  );
}

/** Where values have none beside them. */
function alone(values: Series['values']): number[] {
  const isNone = (at: number) => (values[at] ?? null) === null;
  return [...values.keys()].filter((at) => !isNone(at) && isNone(at - 1) && isNone(at + 1));
}

const wholeSteps = [1, 2, 5]
  .flatMap((step) => [1, 10, 100, 1000, 10_000, 100_000].map((power) => step * power))
  .sort((one, other) => one - other);

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
