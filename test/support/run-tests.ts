/**
 * `npm test`: types, format, lint and unused code beside every test that is not for the night; the last line says how it went:
 * `N passed, N failed`.
 *
 * Nothing stops at the first failure: each check counts as one test, so the line always speaks of everything. The counts
 * come from the test runner's JSON report and not from what it prints. Arguments are passed on to the runner.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Counts, countReport } from './test-counts.ts';

/** Beside the tests, which take every processor: threads would do some of the work twice, and what has not changed is known. */
const tsc = (project: string, name: string) => {
  const known = ['--incremental', '--tsBuildInfoFile', `node_modules/.cache/types/${name}.tsbuildinfo`];
  return ['tsc', '-p', project, '--singleThreaded', ...known];
};

const checks: readonly { readonly name: string; readonly command: readonly string[] }[] = [
  { name: 'types', command: tsc('.', 'all') },
  { name: 'types of the studio', command: tsc('src/studio/app', 'studio') },
  { name: 'format and lint', command: [join('test/node_modules/.bin/biome'), 'ci', '--error-on-warnings'] },
  { name: 'unused code', command: [join('test/node_modules/.bin/knip'), '--no-progress'] },
];

const [tests, ...checked] = await Promise.all([runTests(process.argv.slice(2)), ...checks.map(check)]);
for (const { report } of checked) console.log(report);
const passed = checked.filter(({ code }) => code === 0).length + tests.passed;
const failed = checked.filter(({ code }) => code !== 0).length + tests.failed;
process.exitCode = failed === 0 ? 0 : 1;
console.log(`\n${passed} passed, ${failed} failed`);

/** Runs a check; what it prints is told after the tests, so that nobody has to look for it among them. */
async function check({ name, command }: (typeof checks)[number]): Promise<{ code: number; report: string }> {
  let output = '';
  const code = await run(command, (text) => {
    output += text;
  });
  return { code, report: `\n> ${name}: ${command.join(' ')}: ${code === 0 ? 'passed' : 'FAILED'}\n${output}` };
}

/** Runs a program, such as one of node_modules/.bin, with our terminal where nobody takes what it prints; resolves to its exit code. */
function run([command, ...options]: readonly string[], onOutput?: (text: string) => void): Promise<number> {
  const stdio = onOutput === undefined ? 'inherit' : 'pipe';
  const child = spawn(command ?? '', options, { stdio, shell: process.platform === 'win32' });
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', onOutput ?? (() => {}));
  return new Promise((resolve) => {
    child.once('error', () => resolve(1));
    child.once('close', (code) => resolve(code ?? 1));
  });
}

/** Runs vitest; whatever goes wrong outside a test counts as one failure, so a broken run is never green. */
async function runTests(options: readonly string[]): Promise<Counts> {
  const directory = mkdtempSync(join(tmpdir(), 'pgreflect-report-'));
  const report = join(directory, 'report.json');
  try {
    const code = await run([
      'vitest',
      'run',
      '--project=!nightly',
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
