/**
 * `npm run soak -- [--minutes N] [--load PERCENT] [--clients N] [--seed N]`: a soak (run-soak.ts) whose figures are printed at its end; the
 * exit code is 1 where something did not hold.
 */
import { parseArgs } from 'node:util';
import { runSoak } from './run-soak.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    load: { type: 'string', default: '80' },
    clients: { type: 'string', default: '16' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const [minutes, load, clients, seed] = [values.minutes, values.load, values.clients, values.seed].map(Number) as [
  number,
  number,
  number,
  number,
];
if (![minutes, load, clients].every((number) => number > 0) || !(seed >= 0)) {
  throw new Error('Each option takes a number.');
}

const ends: (() => Promise<void>)[] = [];
try {
  const report = await runSoak(
    { minutes, load, clients, seed, onEvent: (line) => console.log(line) },
    (end) => void ends.push(end),
  );
  const { figures, violations, trend, complaints } = report;
  console.log(`\nSeed ${seed}, ${clients} clients, ${minutes} minutes\n`);
  for (const [name, number] of [...figures].sort()) console.log(`${String(number).padStart(9)}  ${name}`);
  console.log(`\nMemory in the last ${trend.minutes} minutes: ${trend.aliveMb.toFixed(1)} MB alive, in MB an hour:`);
  const slopes = { alive: trend.aliveSlope, compiled: trend.compiledSlope, resident: trend.residentSlope };
  for (const [name, slope] of Object.entries(slopes)) console.log(`${slope.toFixed(1).padStart(9)}  ${name}`);
  console.log('\nLogged:');
  for (const [text, number] of complaints) console.log(`${String(number).padStart(9)}  ${text}`);
  console.log(violations.length === 0 ? '\nEverything held.' : `\n${violations.length} violations:`);
  for (const violation of violations.slice(0, 50)) console.log(`  ${violation}`);
  process.exitCode = violations.length === 0 ? 0 : 1;
} finally {
  for (const end of ends.reverse()) await end();
}
