/**
 * What the product promises of its speed beside the baseline, and what of it was measured.
 */
import { cases } from './cases.ts';
import type { Comparison } from './compare.ts';
import { ratio, resultOf, table, whole } from './markdown.ts';
import type { TargetResult } from './measure.ts';

/** µs of gateway CPU for one row by key. */
const oneRowCpu = 75;
/** Requests per second of the baseline, for a case; lists of many rows are made without the database's JSON and shall be faster. */
const shareOfBaseline = (title: string) => (title === titleOf('rows-1000') ? 1.8 : 0.9);

/** A table of the goals, of requests/s of PostGraphile where told; no line for a case that was not measured. */
export function printGoals({ rows }: Pick<Comparison, 'rows'>, ofPostgraphile?: number): string {
  const results = rows.map(({ title, targets }) => ({
    title,
    ours: resultOf(targets, 'pgreflect'),
    baseline: resultOf(targets, 'baseline'),
    other: resultOf(targets, 'postgraphile'),
    bare: resultOf(targets, 'bare'),
  }));
  const measured = results.filter((each): each is Measured => each.ours !== undefined && each.baseline !== undefined);
  const cpu = measured
    .filter(({ title }) => title === titleOf('one-row'))
    .map(({ title, ours, baseline }) => [
      `gateway CPU, ${title}`,
      `≤ ${oneRowCpu} µs`,
      `${whole(ours.cpuMicroseconds)} µs (baseline ${whole(baseline.cpuMicroseconds)})`,
      met(ours.cpuMicroseconds <= oneRowCpu),
    ]);
  const speed = measured.map(({ title, ours, baseline }) => {
    const goal = shareOfBaseline(title);
    return [
      `requests/s of the baseline, ${title}`,
      `≥ ${goal.toFixed(2)} ×`,
      ratio(ours.requestsPerSecond, baseline.requestsPerSecond),
      met(ours.requestsPerSecond >= goal * baseline.requestsPerSecond),
    ];
  });
  const lead = measured.flatMap(({ title, ours, other, bare }) =>
    other === undefined || ofPostgraphile === undefined
      ? []
      : [
          [
            `requests/s of PostGraphile, ${title}`,
            `≥ ${ofPostgraphile.toFixed(2)} ×`,
            `${ratio(ours.requestsPerSecond, other.requestsPerSecond)} (bare ${ratio(bare?.requestsPerSecond, other.requestsPerSecond)})`,
            met(ours.requestsPerSecond >= ofPostgraphile * other.requestsPerSecond),
          ],
        ],
  );
  return table(['what', 'goal', 'measured', 'met'], [...cpu, ...speed, ...lead], 4);
}

interface Measured {
  readonly title: string;
  readonly ours: TargetResult;
  readonly baseline: TargetResult;
  readonly other: TargetResult | undefined;
  /** Nobody can do much better: PostgreSQL's own work is most of it. */
  readonly bare: TargetResult | undefined;
}

function titleOf(name: string): string | undefined {
  return cases.find((each) => each.name === name)?.title;
}

function met(isMet: boolean): string {
  return isMet ? 'yes' : 'no';
}
