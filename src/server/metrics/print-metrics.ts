/** Series as text: the format of Prometheus, or OpenMetrics for whoever accepts it. */
import type { Exemplar } from '../../shared/distribution.ts';
import { prefersOpenMetrics } from '../media-types.ts';
import { type SeriesDefinition, type SeriesName, series, unitOf } from './series.ts';
import { combineSnapshots, type SeriesSample, type Snapshot } from './snapshot.ts';

/** A text for Prometheus. */
export interface PrintedMetrics {
  readonly type: string;
  readonly text: string;
}

const plainType = 'text/plain; version=0.0.4; charset=utf-8';
const openType = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

/** Prints the series of all processes together. @param accept The header of the request. */
export function printMetrics(processes: readonly Snapshot[], accept: string | undefined): PrintedMetrics {
  const all = combineSnapshots(processes);
  const isOpen = prefersOpenMetrics(accept);
  const text = (Object.keys(series) as SeriesName[]).map((name) => printSeries(name, all[name] ?? [], isOpen)).join('');
  return isOpen ? { type: openType, text: `${text}# EOF\n` } : { type: plainType, text };
}

function printSeries(name: SeriesName, samples: readonly SeriesSample[], isOpen: boolean): string {
  const definition = series[name];
  const { type, help } = definition;
  const family = isOpen ? name.replace(/_(total|info)$/, '') : name;
  const unit = isOpen ? unitOf(name) : null;
  const head = [
    `# HELP ${family} ${help.replaceAll('\\', '\\\\')}`,
    `# TYPE ${family} ${type === 'info' && !isOpen ? 'gauge' : type}`,
    ...(unit === null ? [] : [`# UNIT ${family} ${unit}`]),
  ];
  const lines = samples.flatMap((sample) =>
    sample.counts === undefined
      ? [line(name, definition, sample.labels, sample.value)]
      : printHistogram(name, definition, sample, isOpen),
  );
  return `${[...head, ...lines].join('\n')}\n`;
}

function printHistogram(
  name: string,
  definition: SeriesDefinition,
  { labels, value, counts = [], exemplars }: SeriesSample,
  isOpen: boolean,
): readonly string[] {
  const withBound = { ...definition, labels: [...definition.labels, 'le'] };
  let count = 0;
  const buckets = counts.map((more, at) => {
    count += more;
    const text = line(`${name}_bucket`, withBound, [...labels, boundText(definition.bounds?.[at], isOpen)], count);
    return isOpen ? `${text}${exemplarText(exemplars?.[at])}` : text;
  });
  return [...buckets, line(`${name}_sum`, definition, labels, value), line(`${name}_count`, definition, labels, count)];
}

function exemplarText(exemplar: Exemplar | null | undefined): string {
  if (!exemplar) return '';
  return ` # {trace_id="${exemplar.traceId}"} ${exemplar.value} ${exemplar.at.toFixed(3)}`;
}

/** OpenMetrics writes bounds as floating-point numbers. */
function boundText(bound: number | undefined, isOpen: boolean): string {
  if (bound === undefined) return '+Inf';
  return isOpen && Number.isInteger(bound) ? `${bound}.0` : String(bound);
}

function line(name: string, { labels: names }: SeriesDefinition, labels: readonly string[], value: number): string {
  const pairs = names.map((label, at) => `${label}="${escapeValue(labels[at] ?? '')}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`;
}

function escapeValue(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
