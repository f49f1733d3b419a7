/**
 * `npm test`: types, format and lint, then every test; the last line says how it went: `N passed, N failed`.
 *
 * Nothing stops at the first failure: each check counts as one test, so the line always speaks of everything. The counts
 * come from the test runner's JSON report and not from what it prints. Arguments are passed on to the runner.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Counts, countReport } from './test-counts.ts';

const checks: readonly { readonly name: string; readonly command: readonly string[] }[] = [
  { name: 'types', command: ['tsc'] },
  { name: 'types of the studio', command: ['tsc', '-p', 'src/studio'] },
  { name: 'format and lint', command: ['biome', 'ci', '--error-on-warnings'] },
];

const checked = checks.map(({ name, command }) => {
  console.log(`> ${name}: ${command.join(' ')}`);
  return run(command);
});
const tests = runTests(process.argv.slice(2));
const passed = checked.filter((code) => code === 0).length + tests.passed;
const failed = checked.filter((code) => code !== 0).length + tests.failed;
process.exitCode = failed === 0 ? 0 : 1;
console.log(`\n${passed} passed, ${failed} failed`);

/** Runs a command of node_modules/.bin with our terminal; returns its exit code. */
function run([command, ...options]: readonly string[]): number {
  return spawnSync(command ?? '', options, { stdio: 'inherit', shell: process.platform === 'win32' }).status ?? 1;
}

/** Runs vitest; whatever goes wrong outside a test counts as one failure, so a broken run is never green. */
function runTests(options: readonly string[]): Counts {
  const directory = mkdtempSync(join(tmpdir(), 'pgreflect-report-'));
  const report = join(directory, 'report.json');
  try {
    const code = run([
      'vitest',
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
      ...options,
    ]);
    return countReport(readOrNull(report), code);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
