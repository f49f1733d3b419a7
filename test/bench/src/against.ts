/**
 * This checkout beside another revision of it, in turns: what a change has done to speed and cost.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchCase } from './cases.ts';
import type { BenchDatabase } from './database.ts';
import { ratio, table, whole } from './markdown.ts';
import type { TargetResult } from './measure.ts';
import { checkSameAnswers, startOurs } from './targets.ts';
import { measureInTurns, type TurnLoad } from './turns.ts';

/** One case: the other revision, then this checkout. */
export interface AgainstResult {
  readonly title: string;
  readonly other: TargetResult;
  readonly present: TargetResult;
}

/** Which revision, and how it is measured. */
export interface AgainstOptions extends TurnLoad {
  readonly root: string;
  /** Anything that names a commit. */
  readonly revision: string;
  readonly poolSize: number;
  readonly cases: readonly BenchCase[];
}

/** Builds the revision in a worktree of its own and measures. Throws when there is no such revision or it cannot be built. */
export async function measureAgainst(db: BenchDatabase, options: AgainstOptions): Promise<AgainstResult[]> {
  const { root, revision, poolSize } = options;
  const worktree = buildRevision(root, revision);
  try {
    const pool = { databaseUrl: db.loginUrl, poolSize };
    const contestants = [await startOurs({ ...pool, name: revision, root: worktree.path }), await startOurs(pool)];
    try {
      await checkSameAnswers(db, contestants, options.cases);
      const results: AgainstResult[] = [];
      for (const benchCase of options.cases) {
        const [other, present] = await measureInTurns(db, contestants, benchCase, options);
        if (other && present) results.push({ title: benchCase.title, other, present });
      }
      return results;
    } finally {
      for (const { target } of contestants) await target.stop();
    }
  } finally {
    worktree.remove();
  }
}

function buildRevision(root: string, revision: string): { readonly path: string; remove(): void } {
  const git = (...words: readonly string[]) => execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim();
  const commit = git('rev-parse', '--verify', '--end-of-options', `${revision}^{commit}`);
  const directory = mkdtempSync(join(tmpdir(), 'pgreflect-against-'));
  const path = join(directory, 'checkout');
  const remove = () => {
    git('worktree', 'remove', '--force', path);
    rmSync(directory, { recursive: true, force: true });
  };
  git('worktree', 'add', '--quiet', '--detach', path, commit);
  try {
    installPackages(root, path);
    // Without the studio, which no load asks for.
    const compiler = join(path, 'node_modules/.bin/tsc');
    execFileSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
      cwd: path,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
  } catch (problem) {
    remove();
    throw problem;
  }
  return { path, remove };
}

/** The packages of this checkout where the revision has the same, else its own. */
function installPackages(root: string, path: string): void {
  const [here, there] = [root, path].map((folder) => readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  if (here === there) symlinkSync(join(root, 'node_modules'), join(path, 'node_modules'));
  else execFileSync('npm', ['ci', '--silent'], { cwd: path, stdio: ['ignore', 'inherit', 'inherit'] });
}

/** Ratios are of this checkout to the other revision. */
export function printAgainst(results: readonly AgainstResult[]): string {
  const figures = [
    { title: 'requests/s', of: (result: TargetResult) => result.requestsPerSecond },
    { title: 'gateway CPU µs', of: (result: TargetResult) => result.cpuMicroseconds },
    { title: 'PostgreSQL CPU µs', of: (result: TargetResult) => result.databaseCpuMicroseconds },
  ];
  return table(
    ['case', ...figures.flatMap(({ title }) => [title, 'now', 'ratio']), 'p99 ms', 'now'],
    results.map(({ title, other, present }) => [
      title,
      ...figures.flatMap(({ of }) => [whole(of(other)), whole(of(present)), ratio(of(present), of(other))]),
      other.p99Ms.toFixed(1),
      present.p99Ms.toFixed(1),
    ]),
    1,
  );
}
