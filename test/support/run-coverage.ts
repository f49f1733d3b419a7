/**
 * `npm run test:coverage [-- ARGUMENTS]`: the tests, and how many lines of `src/` they run, by folder. It fails where all together are
 * fewer than `fewest` percent, or where a line of the `complete` folders does not run; with arguments, such as files, it fails for tests
 * alone.
 *
 * Counted is what runs in the processes of the tests, and in those that they start, as those of commands are. A process that is killed
 * tells nothing.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Percent of all lines. */
const fewest = 95;

/** Folders of which every line runs: the rules of who may sign in as whom. Those below them count as well. */
const complete = ['src/auth/requests', 'src/auth/steps'];

/** What the runner says of a file: where its statements begin, and how often each ran. Lines count from 1, columns from 0. */
interface RunnerFile {
  readonly statementMap: Readonly<
    Record<string, { readonly start: { readonly line: number; readonly column: number } }>
  >;
  readonly s: Readonly<Record<string, number>>;
}

/** What V8 says of a file: how often each range of characters ran; an inner one counts more than the one around it. */
interface ProcessFile {
  readonly url: string;
  readonly functions: readonly {
    readonly ranges: readonly { readonly startOffset: number; readonly endOffset: number; readonly count: number }[];
  }[];
}

const given = process.argv.slice(2);
const directory = mkdtempSync(join(tmpdir(), 'pgreflect-coverage-'));
const children = join(directory, 'children');
const options = ['--coverage.reporter=json', `--coverage.reportsDirectory=${join(directory, 'runner')}`, ...given];
const { status } = spawnSync('vitest', ['run', '--project=!nightly', '--coverage', ...options], {
  stdio: 'inherit',
  shell: process.platform === 'win32',
  env: { ...process.env, CHILD_COVERAGE: children },
});
const files = JSON.parse(readFileSync(join(directory, 'runner/coverage-final.json'), 'utf8')) as Record<
  string,
  RunnerFile
>;
const ofProcesses = readProcesses(new Set(Object.keys(files).map((path) => pathToFileURL(path).href)));
rmSync(directory, { recursive: true });

const folders = new Map<string, boolean[]>();
const missing: string[] = [];
for (const [path, file] of Object.entries(files)) {
  const name = relative(process.cwd(), path).split(sep).join('/');
  const folder = posix.dirname(name);
  const lines = linesOf(path, file);
  folders.set(folder, [...(folders.get(folder) ?? []), ...lines.values()]);
  const missed = [...lines].filter(([, ran]) => !ran).map(([line]) => line);
  if (missed.length > 0 && complete.some((start) => name.startsWith(`${start}/`)))
    missing.push(`${name}: ${missed.join(', ')}`);
}
const all = [...folders.values()].flat();
console.log();
for (const [folder, lines] of [...folders].sort()) console.log(row(folder, lines));
console.log(row('all', all));
const complaints = [
  ...missing.map((lines) => `No test runs these lines, and all of ${complete.join(' and ')} must run: ${lines}`),
  ...(percent(all) < fewest ? [`Fewer than ${fewest} % of the lines of src/ run.`] : []),
];
const isWhole = given.length === 0;
if (isWhole) for (const complaint of complaints) console.log(`\n${complaint}`);
process.exitCode = status === 0 && !(isWhole && complaints.length > 0) ? 0 : 1;

/** Of each line on which a statement begins, whether one of them ran. */
function linesOf(path: string, { statementMap, s }: RunnerFile): ReadonlyMap<number, boolean> {
  const runs = ofProcesses.get(pathToFileURL(path).href) ?? [];
  const starts = lineStarts(readFileSync(path, 'utf8'));
  const lines = new Map<number, boolean>();
  for (const [id, { start }] of Object.entries(statementMap)) {
    const at = (starts[start.line - 1] ?? 0) + start.column;
    const ran = (s[id] ?? 0) > 0 || runs.some((file) => ranAt(file, at));
    lines.set(start.line, ran || lines.get(start.line) === true);
  }
  return lines;
}

/** The reports of the processes by the address of the file. Types are erased to blanks, so every offset is that of the source. */
function readProcesses(wanted: ReadonlySet<string>): Map<string, ProcessFile[]> {
  const found = new Map<string, ProcessFile[]>();
  for (const name of existsSync(children) ? readdirSync(children) : []) {
    const { result } = JSON.parse(readFileSync(join(children, name), 'utf8')) as { result: readonly ProcessFile[] };
    for (const file of result) if (wanted.has(file.url)) found.set(file.url, [...(found.get(file.url) ?? []), file]);
  }
  return found;
}

function ranAt({ functions }: ProcessFile, at: number): boolean {
  let narrowest = Number.POSITIVE_INFINITY;
  let count = 0;
  for (const { ranges } of functions) {
    for (const range of ranges) {
      const length = range.endOffset - range.startOffset;
      if (range.startOffset > at || range.endOffset <= at || length > narrowest) continue;
      [narrowest, count] = [length, range.count];
    }
  }
  return count > 0;
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function row(name: string, lines: readonly boolean[]): string {
  const covered = lines.filter(Boolean).length;
  return `${name.padEnd(32)} ${percent(lines).toFixed(1).padStart(6)} %  ${covered} of ${lines.length} lines`;
}

function percent(lines: readonly boolean[]): number {
  return lines.length === 0 ? 100 : (100 * lines.filter(Boolean).length) / lines.length;
}
