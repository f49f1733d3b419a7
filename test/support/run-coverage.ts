/**
 * `npm run test:coverage [-- ARGUMENTS]`: the tests, and how many lines of `src/` they run, by folder. It fails where all together are
 * fewer than `fewest` percent; with arguments, such as files, it fails for tests alone.
 *
 * Counted is what runs in the processes of the tests. What processes run that tests start, as those of commands are, is not.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';

/** Percent of all lines. */
const fewest = 95;

/** Lines of a file or a folder. */
interface Lines {
  readonly total: number;
  readonly covered: number;
}

const given = process.argv.slice(2);
const directory = mkdtempSync(join(tmpdir(), 'pgreflect-coverage-'));
const options = ['--coverage.reporter=json-summary', `--coverage.reportsDirectory=${directory}`, ...given];
const { status } = spawnSync('vitest', ['run', '--project=!nightly', '--coverage', ...options], {
  stdio: 'inherit',
  shell: process.platform === 'win32',
});
const summary = JSON.parse(readFileSync(join(directory, 'coverage-summary.json'), 'utf8')) as Record<
  string,
  { lines: Lines }
>;
rmSync(directory, { recursive: true });
const { total, ...files } = summary;
const folders = new Map<string, Lines>();
for (const [path, { lines }] of Object.entries(files)) {
  const folder = relative(process.cwd(), dirname(path)).split(sep).join('/');
  const sum = folders.get(folder) ?? { total: 0, covered: 0 };
  folders.set(folder, { total: sum.total + lines.total, covered: sum.covered + lines.covered });
}
console.log();
for (const [folder, lines] of [...folders].sort()) console.log(row(folder, lines));
console.log(row('all', total!.lines));
const isEnough = given.length > 0 || percent(total!.lines) >= fewest;
if (!isEnough) console.log(`\nFewer than ${fewest} % of the lines of src/ run.`);
process.exitCode = status === 0 && isEnough ? 0 : 1;

function row(name: string, lines: Lines): string {
  return `${name.padEnd(32)} ${percent(lines).toFixed(1).padStart(6)} %  ${lines.covered} of ${lines.total} lines`;
}

function percent({ total, covered }: Lines): number {
  return total === 0 ? 100 : (100 * covered) / total;
}
