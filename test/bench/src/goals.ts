/**
 * What the product promises of its speed beside the floor, and what of it was measured.
 */
import { cases } from './cases.ts';
import type { Comparison } from './compare.ts';
import { ratio, resultOf, table, whole } from './markdown.ts';
import type { TargetResult } from './measure.ts';

/** µs of gateway CPU for one row by key. */
const oneRowCpu = 75;
/** Requests per second of the floor's, for a case; lists of many rows are made without the database's JSON and shall be faster. */
const shareOfFloor = (title: string) => (title === titleOf('rows-1000') ? 1.8 : 0.9);

/** A table of the goals; no line for a case that was not measured. */
export function printGoals({ rows }: Pick<Comparison, 'rows'>): string {
  const results = rows.map(({ title, targets }) => ({
    title,
    ours: resultOf(targets, 'pgreflect'),
    floor: resultOf(targets, 'floor'),
  }));
  const measured = results.filter((each): each is Measured => each.ours !== undefined && each.floor !== undefined);
  const cpu = measured
    .filter(({ title }) => title === titleOf('one-row'))
    .map(({ title, ours, floor }) => [
      `gateway CPU, ${title}`,
      `≤ ${oneRowCpu} µs`,
      `${whole(ours.cpuMicroseconds)} µs (floor ${whole(floor.cpuMicroseconds)})`,
      met(ours.cpuMicroseconds <= oneRowCpu),
    ]);
  const speed = measured.map(({ title, ours, floor }) => {
    const goal = shareOfFloor(title);
    return [
      `requests/s of the floor's, ${title}`,
      `≥ ${goal.toFixed(2)} ×`,
      ratio(ours.requestsPerSecond, floor.requestsPerSecond),
      met(ours.requestsPerSecond >= goal * floor.requestsPerSecond),
    ];
  });
  return table(['what', 'goal', 'measured', 'met'], [...cpu, ...speed], 4);
}

interface Measured {
  readonly title: string;
  readonly ours: TargetResult;
  readonly floor: TargetResult;
}

function titleOf(name: string): string | undefined {
  return cases.find((each) => each.name === name)?.title;
}

function met(isMet: boolean): string {
  return isMet ? 'yes' : 'no';
}
