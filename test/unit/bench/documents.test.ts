/**
 * What a run of the bench leaves behind: sections of documents, plots, and a history that does not grow for ever.
 */
import { expect, test } from 'vitest';
import { fillMarkers } from '../../bench/src/documents.ts';
import { nextHistory } from '../../bench/src/history.ts';
import { medianOf, type TargetResult } from '../../bench/src/measure.ts';
import { plotCases, plotConnections } from '../../bench/src/plots.ts';

function resultOf(name: string, requestsPerSecond: number, more: Partial<TargetResult> = {}): TargetResult {
  const latency = { p50Ms: 1, p99Ms: 5, p999Ms: 9 };
  const cost = { cpuMicroseconds: 100, databaseCpuMicroseconds: 50, poolerCpuMicroseconds: 0 };
  return {
    name,
    requestsPerSecond,
    ...latency,
    ...cost,
    pausedMsPerSecond: 1,
    longestPauseMs: 2,
    loadMib: 100,
    ...more,
  };
}

const rows = [
  { title: 'a < b', targets: [resultOf('pgreflect', 900, { cpuMicroseconds: 120 }), resultOf('baseline', 1000)] },
  { title: 'writes', targets: [resultOf('pgreflect', 20), resultOf('postgraphile', 0.5)] },
];
const conditions = { date: '2026-01-31', commit: 'abc1234', machine: '2 × CPU', rounds: 3, seconds: 5 };
const more = { sockets: 16, poolSize: 8, version: '18.4', fsync: 'off' } as const;

test('a section replaces what stands between its markers and nothing else', () => {
  const text = 'A\n<!-- cases -->\nold\n<!-- /cases -->\nB\n<!-- plans -->\nkept\n<!-- /plans -->\n';
  expect(fillMarkers(text, new Map([['cases', 'new $1\n']]))).toBe(
    'A\n<!-- cases -->\nnew $1\n<!-- /cases -->\nB\n<!-- plans -->\nkept\n<!-- /plans -->\n',
  );
});

test('a run leaves its ratios to the servers beside it, and the oldest of a hundred runs goes', () => {
  const [first] = nextHistory([], { ...conditions, ...more }, { rows });
  expect(first).toEqual({
    ...conditions,
    cases: {
      'a < b': { ofPostgraphile: null, ofBaseline: 0.9, cpuOfBaseline: 1.2 },
      writes: { ofPostgraphile: 40, ofBaseline: null, cpuOfBaseline: null },
    },
  });
  const past = Array.from({ length: 100 }, (_, index) => ({ ...first!, commit: String(index) }));
  const next = nextHistory(past, { ...conditions, ...more }, { rows });
  expect(next.map(({ commit }) => commit)).toEqual([...past.slice(1).map(({ commit }) => commit), 'abc1234']);
});

test('rounds give their medians, and the longest pause and most memory of all', () => {
  const rounds = [
    resultOf('pgreflect', 10, { longestPauseMs: 30, loadMib: 120 }),
    resultOf('pgreflect', 30),
    resultOf('pgreflect', 20),
  ];
  expect(medianOf(rounds)).toMatchObject({ requestsPerSecond: 20, p999Ms: 9, longestPauseMs: 30, loadMib: 120 });
});

test('a plot of the cases has a mark with words for every server, further right the more it answers', () => {
  const svg = plotCases(rows);
  expect(svg).toContain('<title>a &lt; b: pgreflect, 900 requests/s, p99 5.0 ms</title>');
  const places = [...svg.matchAll(/translate\(([\d.]+) [\d.]+\)[^>]*><title>([^:<]*): (\w+), /g)];
  const x = Object.fromEntries(places.map(([, at, title, name]) => [`${title} ${name}`, Number(at)]));
  expect(Object.keys(x)).toEqual([
    'a &lt; b pgreflect',
    'a &lt; b baseline',
    'writes pgreflect',
    'writes postgraphile',
  ]);
  expect(x['a &lt; b baseline']).toBeGreaterThan(x['a &lt; b pgreflect']!);
  expect(x['a &lt; b pgreflect']).toBeGreaterThan(x['writes pgreflect']!);
  expect(x['writes pgreflect']).toBeGreaterThan(x['writes postgraphile']!);
  expect(svg).not.toMatch(/NaN|Infinity|undefined/);
});

test('a plot over connections joins the points of each server', () => {
  const connections = [1, 64].map((sockets) => ({ title: 'one row', sockets, targets: rows[0]!.targets }));
  const svg = plotConnections(connections);
  // Two panels, two servers.
  expect(svg.match(/<polyline points="[\d.]+,[\d.]+ [\d.]+,[\d.]+"/g)).toHaveLength(4);
  expect(svg).toContain('one row: baseline, 1,000 requests/s, p99 5.0 ms, 64 connections');
  expect(svg).not.toMatch(/NaN|Infinity|undefined/);
});
