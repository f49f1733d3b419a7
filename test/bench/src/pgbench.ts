/**
 * Runs the bare statements through pgbench, prepared: the SQL that pgreflect prints (as `pgreflect explain` gives it), the
 * best one written by hand, and the same rows without JSON. Empty where pgbench is not installed.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchCase, Operation } from './cases.ts';
import type { BenchDatabase } from './database.ts';
import { explainStatement } from './explain.ts';
import { childrenCpuSeconds } from './processes.ts';

/** One statement of one case; CPU is per execution. */
export interface StatementResult {
  readonly title: string;
  readonly statement: 'pgreflect' | 'by hand' | 'bare rows';
  readonly perSecond: number;
  readonly cpuMicroseconds: number;
}

/** Connections, and seconds for each statement. */
export interface StatementLoad {
  readonly poolSize: number;
  readonly seconds: number;
}

/** Measures each statement of the cases that have one; in turns would be fairer, but pgbench knows no turns. */
export async function measureStatements(
  db: BenchDatabase,
  cases: readonly BenchCase[],
  load: StatementLoad,
): Promise<StatementResult[]> {
  const found = spawnSync('pgbench', ['--version'], { encoding: 'utf8' });
  if (found.status !== 0) {
    console.error('pgbench is not installed; the statements alone are not measured.');
    return [];
  }
  const directory = mkdtempSync(join(tmpdir(), 'pgreflect-pgbench-'));
  try {
    const measured = cases.filter((each) => each.operations.length === 1 && !each.hasSeveralStatements);
    const results: StatementResult[] = [];
    for (const benchCase of measured) {
      for (const [statement, script] of scriptsOf(db, benchCase)) {
        if (benchCase.refill) await db.run(benchCase.refill(load.poolSize * runsPerClient));
        const file = join(directory, 'script.sql');
        writeFileSync(file, script.text);
        const { perSecond, cpuMicroseconds } = await runPgbench(db, { ...script, file }, load);
        console.error(`${benchCase.name} ${statement}: ${Math.round(perSecond)} statements/s`);
        results.push({ title: benchCase.title, statement, perSecond, cpuMicroseconds });
      }
    }
    return results;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Statements of one client where each run uses a row up; else the time decides. */
const runsPerClient = 3000;

interface Script {
  readonly text: string;
  /** Variables of pgbench, which it binds as parameters. */
  readonly variables: Readonly<Record<string, string>>;
  readonly once: boolean;
}

/** Scripts for pgbench; it makes parameters of its own variables, so `:n` is bound and not printed into the text. */
function scriptsOf(db: BenchDatabase, benchCase: BenchCase): [StatementResult['statement'], Script][] {
  const { values, deepKey, refill } = benchCase;
  const operation = benchCase.operations[0] as Operation;
  const { handwritten, bare } = operation;
  const first = values[0] ?? 1;
  const cursor = Buffer.from(JSON.stringify([deepKey])).toString('base64');
  const variables = deepKey === undefined ? operation.variables(first) : { c: cursor };
  const ours = explainStatement(db, { ours: operation.ours, variables });
  const draw = refill
    ? `\\set k :k + 1\n\\set n :client_id * ${runsPerClient} + :k\n`
    : `\\set n random(1, ${Math.max(...values)})\n`;
  // A parameter that is the value of the turn is drawn; what else there is stays as it is for the first value.
  const script = (text: string, given: readonly string[]): Script => {
    const isDrawn = (slot: string) => given[Number(slot) - 1] === String(first) && values.length + (refill ? 1 : 0) > 1;
    const named = hideColons(text).replace(/\$(\d+)/g, (_, slot: string) => (isDrawn(slot) ? ':n' : `:p${slot}`));
    const fixed = given.map((value, index) => [`p${index + 1}`, value] as const);
    return { text: `${draw}${named};\n`, variables: Object.fromEntries([['k', '0'], ...fixed]), once: !!refill };
  };
  const byHand = script(handwritten, operation.parameters(variables));
  return [
    ['pgreflect', script(ours.text, ours.values)],
    ['by hand', byHand],
    ...(bare === null
      ? []
      : [['bare rows', script(bare, operation.parameters(variables))] as [StatementResult['statement'], Script]]),
  ];
}

/**
 * pgbench takes `:name` for a variable inside string literals too, so a colon there is written as an escape. Quotes are
 * doubled inside a literal; `e'…'` has escapes of its own.
 */
export function hideColons(text: string): string {
  return text.replace(/(\be)?'((?:[^']|'')*)'/gi, (literal, escaped: string | undefined, inner: string) => {
    if (!inner.includes(':')) return literal;
    if (escaped !== undefined) return `${escaped}'${inner.replaceAll(':', '\\x3a')}'`;
    return `U&'${inner.replaceAll('\\', '\\\\').replaceAll(':', '\\003a')}'`;
  });
}

/** Runs one script; the backends end with pgbench, and what they used is then counted with the server's ended children. */
async function runPgbench(db: BenchDatabase, script: Script & { readonly file: string }, load: StatementLoad) {
  const before = childrenCpuSeconds(db.pid);
  const options = [
    ...['-n', '-M', 'prepared', '-c', String(load.poolSize)],
    ...(script.once ? ['-t', String(runsPerClient)] : ['-T', String(Math.max(1, Math.round(load.seconds)))]),
    ...Object.entries(script.variables).flatMap(([name, value]) => ['-D', `${name}=${value}`]),
    ...['-f', script.file, db.loginUrl],
  ];
  const run = spawnSync('pgbench', options, { encoding: 'utf8', env: { ...process.env, PGOPTIONS: '-c role=anon' } });
  if (run.status !== 0) throw new Error(`pgbench failed: ${run.stderr}`);
  // The server counts a backend's time when it has noticed its end.
  await new Promise((resolve) => setTimeout(resolve, 300));
  const perSecond = Number(/tps = ([\d.]+)/.exec(run.stdout)?.[1]);
  const count = Number(/actually processed: (\d+)/.exec(run.stdout)?.[1]);
  return { perSecond, cpuMicroseconds: ((childrenCpuSeconds(db.pid) - before) / count) * 1e6 };
}
