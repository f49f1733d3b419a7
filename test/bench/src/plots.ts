/**
 * Two plots as SVG: what each server answers of each case, and how that grows with the connections.
 *
 * Background is transparent and every colour stands out from white and from black, so that they are readable on light and dark pages.
 * Each server has a symbol of its own as well as a colour.
 */
import type { Comparison } from './compare.ts';
import type { TargetResult } from './measure.ts';

/** Grey for words and axes. */
const ink = '#747c87';
const looks: Readonly<Record<string, { readonly colour: string; readonly symbol: SymbolName }>> = {
  pgreflect: { colour: '#d9480f', symbol: 'disc' },
  'pgreflect-2': { colour: '#c2780c', symbol: 'ring' },
  postgraphile: { colour: '#3b82f6', symbol: 'square' },
  baseline: { colour: '#2f9e44', symbol: 'diamond' },
  bare: { colour: '#9c6ade', symbol: 'cross' },
  http: { colour: '#868e96', symbol: 'bar' },
};
type SymbolName = 'disc' | 'ring' | 'square' | 'diamond' | 'cross' | 'bar';

const width = 860;

/** Requests per second on a logarithmic axis, a line a case. */
export function plotCases(rows: Comparison['rows']): string {
  const [left, top, step] = [250, 62, 26];
  const bottom = top + rows.length * step;
  const [least, most] = bounds(rows.flatMap(({ targets }) => targets.map((each) => each.requestsPerSecond)));
  const x = (value: number) => logarithmic(value, [least, most], [left, width - 36]);
  const ticks = powersBetween(least, most).flatMap((tick) => [
    line([x(tick), top - 4], [x(tick), bottom], 0.25),
    text(tick.toLocaleString('en'), [x(tick), bottom + 16], 'middle'),
  ]);
  const lines = rows.flatMap(({ title, targets }, index) => {
    const y = top + (index + 0.5) * step;
    return [
      text(title, [left - 12, y + 4], 'end'),
      line([left, y], [width - 36, y], 0.2),
      ...targets.map((each) => mark(each.name, [x(each.requestsPerSecond), y], labelOf(title, each))),
    ];
  });
  return picture('Requests per second of each server, by case (logarithmic)', bottom + 28, [
    ...legend(rows.flatMap(({ targets }) => targets)),
    ...ticks,
    ...lines,
  ]);
}

/** For each case two panels: requests per second and the 99th percentile of latency, over connections. */
export function plotConnections(connections: Comparison['connections']): string {
  const titles = [...new Set(connections.map(({ title }) => title))];
  const panelWidth = (width - 20) / titles.length;
  const panels = titles.flatMap((title, column) => {
    const points = connections.filter((each) => each.title === title);
    const left = 20 + column * panelWidth;
    const place = { left: left + 44, right: left + panelWidth - 16 };
    return [
      text(title, [left + panelWidth / 2 + 14, 68], 'middle'),
      ...panel(points, { ...place, top: 92, bottom: 242, caption: 'requests/s' }, (each) => each.requestsPerSecond),
      ...panel(points, { ...place, top: 286, bottom: 436, caption: 'p99 ms' }, (each) => each.p99Ms),
    ];
  });
  return picture('Requests per second and latency over connections (logarithmic)', 486, [
    ...legend(connections.flatMap(({ targets }) => targets)),
    ...panels,
    text('connections', [width / 2, 478], 'middle'),
  ]);
}

interface Panel {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly caption: string;
}

function panel(
  points: Comparison['connections'],
  { left, right, top, bottom, caption }: Panel,
  figure: (result: TargetResult) => number,
): string[] {
  const [least, most] = bounds(points.flatMap(({ targets }) => targets.map(figure)));
  const counts = points.map(({ sockets }) => sockets);
  const x = (sockets: number) => logarithmic(sockets, [Math.min(...counts), Math.max(...counts)], [left, right]);
  const y = (value: number) => logarithmic(value, [least, most], [bottom, top]);
  const names = [...new Set(points.flatMap(({ targets }) => targets.map(({ name }) => name)))];
  const axes = [
    text(caption, [left, top - 8], 'start'),
    ...counts.map((count) => text(String(count), [x(count), bottom + 18], 'middle')),
    ...powersBetween(least, most).flatMap((tick) => [
      line([left, y(tick)], [right, y(tick)], 0.25),
      text(tick.toLocaleString('en'), [left - 6, y(tick) + 4], 'end'),
    ]),
  ];
  const curves = names.flatMap((name) => {
    const places = points.flatMap(({ title, sockets, targets }) =>
      targets
        .filter((each) => each.name === name)
        .map((each) => ({
          at: [x(sockets), y(figure(each))] as const,
          label: `${labelOf(title, each)}, ${sockets} connections`,
        })),
    );
    const path = element('polyline', {
      points: places.map(({ at }) => at.map(shown).join(',')).join(' '),
      fill: 'none',
      stroke: looks[name]?.colour ?? ink,
      'stroke-width': '1.5',
    });
    return [path, ...places.map(({ at, label }) => mark(name, at, label))];
  });
  return [...axes, ...curves];
}

type Point = readonly [x: number, y: number];

function labelOf(title: string, { name, requestsPerSecond, p99Ms }: TargetResult): string {
  return `${title}: ${name}, ${Math.round(requestsPerSecond).toLocaleString('en')} requests/s, p99 ${p99Ms.toFixed(1)} ms`;
}

function legend(targets: readonly TargetResult[]): string[] {
  const names = [...new Set(targets.map(({ name }) => name))];
  return names.flatMap((name, index) => [
    mark(name, [30 + index * 120, 40], name),
    text(name, [42 + index * 120, 44], 'start'),
  ]);
}

/** Whole powers of ten around the values, which a logarithmic axis begins and ends with. */
function bounds(values: readonly number[]): Point {
  const known = values.filter((value) => value > 0);
  const least = 10 ** Math.floor(Math.log10(Math.min(...known)));
  return [least, Math.max(10 * least, 10 ** Math.ceil(Math.log10(Math.max(...known))))];
}

function powersBetween(least: number, most: number): number[] {
  const first = Math.round(Math.log10(least));
  return Array.from({ length: Math.round(Math.log10(most)) - first + 1 }, (_, index) => 10 ** (first + index));
}

function logarithmic(value: number, [least, most]: Point, [from, to]: Point): number {
  if (most === least) return from;
  return from + ((to - from) * Math.log(Math.max(value, least) / least)) / Math.log(most / least);
}

function picture(title: string, height: number, content: readonly string[]): string {
  const size = {
    xmlns: 'http://www.w3.org/2000/svg',
    viewBox: `0 0 ${width} ${height}`,
    width: String(width),
    role: 'img',
  };
  const font = { 'font-family': 'system-ui, sans-serif', 'font-size': '12', fill: ink };
  const heading = element('text', { x: '20', y: '18', 'font-size': '14', 'font-weight': '600' }, [escaped(title)]);
  return `${element('svg', { ...size, ...font }, [element('title', {}, [escaped(title)]), heading, ...content], '\n')}\n`;
}

function text(words: string, [x, y]: Point, anchor: 'start' | 'middle' | 'end'): string {
  return element('text', { x: shown(x), y: shown(y), 'text-anchor': anchor }, [escaped(words)]);
}

function line([x1, y1]: Point, [x2, y2]: Point, opacity: number): string {
  const ends = { x1: shown(x1), y1: shown(y1), x2: shown(x2), y2: shown(y2) };
  return element('line', { ...ends, stroke: ink, 'stroke-opacity': String(opacity) });
}

/** The server's mark, with words for whoever points at it. */
function mark(name: string, [x, y]: Point, words: string): string {
  const { colour, symbol } = looks[name] ?? { colour: ink, symbol: 'disc' };
  const place = { transform: `translate(${shown(x)} ${shown(y)})`, stroke: colour, 'stroke-width': '2' };
  const fill = symbol === 'ring' ? 'none' : colour;
  return element('path', { ...place, fill, d: symbols[symbol] }, [element('title', {}, [escaped(words)])]);
}

/** Around the origin. */
const symbols: Readonly<Record<SymbolName, string>> = {
  disc: 'M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z',
  ring: 'M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z',
  square: 'M-4 -4h8v8h-8z',
  diamond: 'M0 -6l5 6l-5 6l-5 -6z',
  cross: 'M-4 -4l8 8M-4 4l8 -8',
  bar: 'M0 -7v14',
};

function element(
  name: string,
  attributes: Readonly<Record<string, string>>,
  children: readonly string[] = [],
  between = '',
): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(value)}"`);
  return `<${name}${written.join('')}>${[...children, ''].join(between)}</${name}>`;
}

function escaped(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

/** Tenths of a pixel are enough. */
function shown(coordinate: number): string {
  return String(Math.round(coordinate * 10) / 10);
}
