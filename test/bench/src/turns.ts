/**
 * Servers take turns within a case (A B C, A B C, …), so that whatever else the machine does hits all of them; medians of the
 * rounds are what counts.
 */
import type { BenchCase } from './cases.ts';
import type { BenchDatabase } from './database.ts';
import { measureRun, medianOf, type TargetResult } from './measure.ts';
import type { Contestant } from './targets.ts';

/** How long and how hard. */
export interface TurnLoad {
  readonly rounds: number;
  /** Of each run. */
  readonly seconds: number;
  /** Of the first runs of each server, which are thrown away. */
  readonly warmUpSeconds: number;
  readonly sockets: number;
}

/** Runs the servers that take part in a case on it. Rejects as `runLoad` does. */
export async function measureInTurns(
  db: BenchDatabase,
  contestants: readonly Contestant[],
  benchCase: BenchCase,
  { rounds, seconds, warmUpSeconds, sockets }: TurnLoad,
): Promise<TargetResult[]> {
  const { refill } = benchCase;
  const load = async ({ target, requests }: Prepared, forSeconds: number) => {
    if (refill) await db.run(refill(requests.length));
    return measureRun(db, target, { requests, sockets, seconds: forSeconds, once: refill !== undefined });
  };
  const prepared: Prepared[] = [];
  for (const contestant of contestants.filter((each) => each.takesPart(benchCase))) {
    const requests = await contestant.requests(benchCase, askedValues(benchCase, seconds));
    const entry = { target: contestant.target, requests, runs: [] };
    await warmUp(() => load(entry, warmUpSeconds), warmUpSeconds);
    prepared.push(entry);
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const entry of prepared) {
      const result = await load(entry, seconds);
      entry.runs.push(result);
      const speed = `${Math.round(result.requestsPerSecond)} requests/s`;
      console.error(`${benchCase.name}, ${sockets} sockets, round ${round + 1}, ${result.name}: ${speed}`);
    }
  }
  return prepared.map(({ runs }) => medianOf(runs));
}

/**
 * V8 compiles what runs often while the server answers: a request of slow SQL cost the gateway 1,500 us of CPU at first, 780
 * after 600 requests and 300 after 4,000.
 */
const warmUpRequests = 5000;
const mostWarmUps = 5;

async function warmUp(load: () => Promise<TargetResult>, seconds: number): Promise<void> {
  let requests = 0;
  for (let run = 0; run < mostWarmUps && requests < warmUpRequests; run += 1)
    requests += (await load()).requestsPerSecond * seconds;
}

interface Prepared {
  readonly target: Contestant['target'];
  readonly requests: readonly Buffer[];
  readonly runs: TargetResult[];
}

/** Every value with every operation, so that each of them meets the next value in the next round; rows that are used up once. */
function askedValues({ operations, values, refill }: BenchCase, seconds: number): number[] {
  if (refill) return Array.from({ length: maxOnce(seconds) }, (_, index) => index + 1);
  return operations.flatMap(() => values);
}

/** More rows than any server can delete in the time; a load that has used them up ends before. */
function maxOnce(seconds: number): number {
  return Math.ceil(15_000 * seconds);
}
