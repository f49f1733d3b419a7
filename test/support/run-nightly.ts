/**
 * `npm run test:nightly [-- STEP...]`: what takes too long for every change, one after the other. Each step counts as one test; the
 * last line says how it went: `N passed, N failed`.
 */
import { spawnSync } from 'node:child_process';

interface Step {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Each by its name. */
const steps: Readonly<Record<string, Step>> = {
  files: { command: ['vitest', 'run', '--project=nightly'] },
  coverage: { command: ['node', 'test/support/run-coverage.ts'] },
  property: { command: ['vitest', 'run', 'test/property'], env: { PROPERTY_OPERATIONS: '20000' } },
  writes: { command: ['vitest', 'run', 'test/writes'], env: { WRITES: '20000' } },
  changes: { command: ['vitest', 'run', 'test/catalog/random-changes'], env: { CATALOG_CHANGES: '300' } },
  random: { command: ['vitest', 'run', 'test/attack/random-requests'], env: { RANDOM_REQUESTS: '6000' } },
  race: { command: ['vitest', 'run', 'test/race'], env: { RACE_SECONDS: '600' } },
  storm: { command: ['node', 'test/storm/storm.ts', '--minutes', '10'] },
  soak: { command: ['node', 'test/soak/soak.ts', '--minutes', '10'] },
  cluster: { command: ['node', 'test/cluster/cluster.ts', '--if-possible'] },
  'cluster-storm': {
    command: ['node', 'test/storm/storm.ts', '--cluster', '--minutes', '120', '--if-possible'],
  },
  matrix: { command: ['node', 'test/support/run-matrix.ts'] },
};

const given = process.argv.slice(2);
const unknown = given.filter((name) => !(name in steps));
if (unknown.length > 0)
  throw new Error(`Unknown: ${unknown.join(', ')}. The steps are ${Object.keys(steps).join(', ')}.`);

const results = Object.entries(steps)
  .filter(([name]) => given.length === 0 || given.includes(name))
  .map(([name, step]) => ({ name, passed: run(name, step) }));
const failed = results.filter(({ passed }) => !passed);
process.exitCode = failed.length === 0 ? 0 : 1;
for (const { name } of failed) console.log(`\nFAILED: ${name}`);
console.log(`\n${results.length - failed.length} passed, ${failed.length} failed`);

/** Runs a step with our terminal; false where it fails. */
function run(name: string, { command: [program = '', ...options], env }: Step): boolean {
  console.log(`\n# ${name}: ${[program, ...options].join(' ')}`);
  const shell = process.platform === 'win32';
  return spawnSync(program, options, { stdio: 'inherit', shell, env: { ...process.env, ...env } }).status === 0;
}
