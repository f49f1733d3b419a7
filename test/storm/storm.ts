/**
 * `npm run storm -- [--minutes N | --rounds N] [--seed N] [--clients N] [--queue]`: a storm (run-storm.ts) whose figures are printed at its
 * end; the exit code is 1 where something happened that may never happen.
 */
import { parseArgs } from 'node:util';
import { runStorm } from './run-storm.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    rounds: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    clients: { type: 'string', default: '20' },
    queue: { type: 'boolean', default: false },
  },
});
const { minutes = '10', rounds, queue } = values;
const delivery = queue ? 'queue' : 'direct';
const duration = rounds === undefined ? { minutes: Number(minutes) } : { rounds: Number(rounds) };
const [seed, clients] = [Number(values.seed), Number(values.clients)];
const numbers = [...Object.values(duration), seed, clients];
if (!numbers.every((number) => number >= 0)) throw new Error('Each option takes a number.');

const began = Date.now();
const ends: (() => Promise<void>)[] = [];
try {
  const report = await runStorm(
    { clients, seed, duration, delivery, onEvent: (name) => console.log(`${seconds()} s: ${name}`) },
    (end) => void ends.push(end),
  );
  const { figures, violations, complaints } = report;
  console.log(`\nSeed ${seed}, ${clients} clients, delivery ${delivery}, ${seconds()} s\n`);
  for (const [name, number] of [...figures].sort()) console.log(`${String(number).padStart(8)}  ${name}`);
  console.log('\nLogged:');
  for (const [text, number] of complaints) console.log(`${String(number).padStart(8)}  ${text}`);
  console.log(violations.length === 0 ? '\nEverything held.' : `\nViolations:\n  ${violations.join('\n  ')}`);
  process.exitCode = violations.length === 0 ? 0 : 1;
} finally {
  for (const end of ends.reverse()) await end();
}

function seconds(): string {
  return ((Date.now() - began) / 1000).toFixed(1);
}
