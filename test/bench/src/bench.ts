/**
 * `npm run bench -- [--quick] [--only CASE] [--without SERVER] [--rounds N] [--seconds N] [--write-readme]`: pgreflect beside PostGraphile and beside
 * hand-written SQL on a bare server, all on one PostgreSQL of the bench's own, each with the same number of connections.
 *
 * The servers take turns (A B C, A B C, …), so that whatever else the machine does hits all of them; medians of the rounds
 * are reported. Writes latest.json and latest.md under .pgreflect/bench and prints the latter.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type BenchCase, cases } from './cases.ts';
import { type BenchDatabase, startDatabase } from './database.ts';
import { type LoadResult, runLoad } from './load.ts';
import { measureStatements, type StatementResult } from './pgbench.ts';
import { childrenCpuSeconds, cpuSeconds, residentMib, type Target } from './processes.ts';
import { median, printReport, printSummary, type Report, type TargetResult } from './report.ts';
import { measureShapes } from './shapes.ts';
import { type Contestant, startContestants } from './targets.ts';

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
    without: { type: 'string', multiple: true },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    sockets: { type: 'string', default: '16' },
    'no-pgbench': { type: 'boolean', default: false },
    'no-shapes': { type: 'boolean', default: false },
    'write-readme': { type: 'boolean', default: false },
  },
});
const rounds = Number(flags.rounds ?? (flags.quick ? 1 : 3));
const seconds = Number(flags.seconds ?? (flags.quick ? 2 : 5));
const sockets = Number(flags.sockets);
const poolSize = 8;
const results = join(import.meta.dirname, '../../../.pgreflect/bench');

const chosen = cases.filter(({ name }) => flags.only?.includes(name) ?? true);
if (chosen.length === 0) throw new Error(`No such case; choose from ${cases.map(({ name }) => name).join(', ')}.`);
const database = await startDatabase();
try {
  const report = await measure(database);
  mkdirSync(results, { recursive: true });
  writeFileSync(join(results, 'latest.json'), `${JSON.stringify(report, null, 2)}\n`);
  const text = printReport(report);
  writeFileSync(join(results, 'latest.md'), text);
  console.log(`\n${text}`);
  if (flags['write-readme']) writeReadme(printSummary(report));
} finally {
  await database.stop();
}

async function measure(db: BenchDatabase): Promise<Report> {
  const contestants = await startContestants(db, poolSize, flags.without ?? []);
  try {
    const idle = Object.fromEntries(contestants.map(({ target }) => [target.name, residentMib(target.pid)]));
    const rows: Report['rows'][number][] = [];
    for (const benchCase of chosen)
      rows.push({ title: benchCase.title, targets: await measureCase(db, contestants, benchCase) });
    const memory = contestants.map(({ target }) => ({
      name: target.name,
      idleMib: idle[target.name] ?? 0,
      afterMib: residentMib(target.pid),
    }));
    const statements: StatementResult[] = flags['no-pgbench']
      ? []
      : await measureStatements(db, chosen, { poolSize, seconds });
    const shapes = flags['no-shapes'] ? null : await measureShapes(db, poolSize, seconds);
    return { rounds, seconds, sockets, poolSize, version: db.version, rows, memory, statements, shapes };
  } finally {
    for (const { target } of contestants) await target.stop();
  }
}

/** Puts the table between its markers in the README. */
function writeReadme(table: string): void {
  const file = join(import.meta.dirname, '../../../README.md');
  const readme = readFileSync(file, 'utf8');
  const marked = /(<!-- bench -->\n)[\s\S]*?(<!-- \/bench -->)/;
  if (!marked.test(readme)) throw new Error('README.md has no markers "<!-- bench -->" and "<!-- /bench -->".');
  writeFileSync(
    file,
    readme.replace(marked, (_, begin: string, end: string) => `${begin}${table}${end}`),
  );
}

/** Runs all contestants on one case in turns; the first short run of each warms it up and is thrown away. */
async function measureCase(
  db: BenchDatabase,
  contestants: readonly Contestant[],
  benchCase: BenchCase,
): Promise<TargetResult[]> {
  const prepared = [];
  const { refill, values } = benchCase;
  const load = async ({ target, requests }: { target: Target; requests: readonly Buffer[] }, forSeconds: number) => {
    if (refill) await db.run(refill(requests.length));
    const before = { own: cpuSeconds(target.pid), database: childrenCpuSeconds(db.pid) };
    const result = await runLoad({
      port: target.port,
      requests,
      sockets,
      seconds: forSeconds,
      once: refill !== undefined,
    });
    return toResult(target.name, result, {
      own: cpuSeconds(target.pid) - before.own,
      database: childrenCpuSeconds(db.pid) - before.database,
    });
  };
  const asked = refill
    ? Array.from({ length: maxOnce(seconds) }, (_, index) => index + 1)
    : inRounds(benchCase, values);
  for (const contestant of contestants) {
    const requests = await contestant.requests(benchCase, asked);
    const entry = { target: contestant.target, requests, runs: [] as TargetResult[] };
    await load(entry, flags.quick ? 0.5 : 2);
    prepared.push(entry);
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const entry of prepared) {
      const result = await load(entry, seconds);
      entry.runs.push(result);
      console.error(
        `${benchCase.name} round ${round + 1} ${result.name}: ${Math.round(result.requestsPerSecond)} requests/s`,
      );
    }
  }
  return prepared.map(({ runs }) => medianOf(runs));
}

/** More rows than any server can delete in the time; a load that has used them up ends before. */
function maxOnce(forSeconds: number): number {
  return Math.ceil(15_000 * forSeconds);
}

/** Every value with every operation, so that each of them meets the next value in the next round. */
function inRounds({ operations }: BenchCase, values: readonly number[]): number[] {
  return Array.from({ length: operations.length }, () => values).flat();
}

interface CpuSeconds {
  readonly own: number;
  readonly database: number;
}

function toResult(name: string, load: LoadResult, used: CpuSeconds): TargetResult {
  const perRequest = (cpu: number) => (cpu / load.requests) * 1e6;
  return {
    name,
    requestsPerSecond: load.requests / load.seconds,
    p50Ms: load.latencies[Math.floor(load.latencies.length * 0.5)] ?? 0,
    p99Ms: load.latencies[Math.floor(load.latencies.length * 0.99)] ?? 0,
    cpuMicroseconds: perRequest(used.own),
    databaseCpuMicroseconds: perRequest(used.database),
  };
}

function medianOf(runs: readonly TargetResult[]): TargetResult {
  const of = (key: Exclude<keyof TargetResult, 'name'>) => median(runs.map((run) => run[key]));
  return {
    name: runs[0]?.name ?? '',
    requestsPerSecond: of('requestsPerSecond'),
    p50Ms: of('p50Ms'),
    p99Ms: of('p99Ms'),
    cpuMicroseconds: of('cpuMicroseconds'),
    databaseCpuMicroseconds: of('databaseCpuMicroseconds'),
  };
}
