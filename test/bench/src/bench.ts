/**
 * `npm run bench -- [--quick] [--auth] [--overload] [--only CASE] [--without SERVER] [--rounds N] [--seconds N] [--write-readme]`: pgreflect beside PostGraphile and beside
 * hand-written SQL on a bare server, all on one PostgreSQL of the bench's own, each with the same number of connections.
 *
 * The servers take turns (A B C, A B C, …), so that whatever else the machine does hits all of them; medians of the rounds
 * are reported. Writes latest.json and latest.md under .pgreflect/bench and prints the latter.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measureAuth } from './auth.ts';
import { type BenchCase, cases } from './cases.ts';
import { type BenchDatabase, startDatabase } from './database.ts';
import { measureRun, medianOf } from './measure.ts';
import { measureOverload } from './overload.ts';
import { measureStatements, type StatementResult } from './pgbench.ts';
import { residentMib, type Target } from './processes.ts';
import { type Comparison, printAuth, printReport, printSummary, type Report, type TargetResult } from './report.ts';
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
    'no-auth': { type: 'boolean', default: false },
    auth: { type: 'boolean', default: false },
    overload: { type: 'boolean', default: false },
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
  if (flags['write-readme']) {
    if (report.comparison) writeReadme('bench', printSummary(report, report.comparison));
    if (report.auth) writeReadme('auth bench', printAuth(report.auth));
  }
} finally {
  await database.stop();
}

async function measure(db: BenchDatabase): Promise<Report> {
  const conditions = { rounds, seconds, sockets, poolSize, version: db.version };
  const comparison = flags.auth || flags.overload ? null : await compare(db);
  const auth = flags['no-auth'] || flags.overload ? null : await measureAuth(db, conditions);
  const overload = flags.auth ? null : await measureOverload(db, conditions);
  return { ...conditions, comparison, auth, overload };
}

async function compare(db: BenchDatabase): Promise<Comparison> {
  const contestants = await startContestants(db, poolSize, flags.without ?? []);
  try {
    const idle = Object.fromEntries(contestants.map(({ target }) => [target.name, residentMib(target.pid)]));
    const rows: Comparison['rows'][number][] = [];
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
    return { rows, memory, statements, shapes };
  } finally {
    for (const { target } of contestants) await target.stop();
  }
}

/** Puts a table between its markers in the README. */
function writeReadme(name: 'bench' | 'auth bench', table: string): void {
  const file = join(import.meta.dirname, '../../../README.md');
  const readme = readFileSync(file, 'utf8');
  const marked = new RegExp(`(<!-- ${name} -->\\n)[\\s\\S]*?(<!-- /${name} -->)`);
  if (!marked.test(readme)) throw new Error(`README.md has no markers "<!-- ${name} -->" and "<!-- /${name} -->".`);
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
    return measureRun(db, target, { requests, sockets, seconds: forSeconds, once: refill !== undefined });
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
