/**
 * `npm run storm -- [--minutes N | --rounds N] [--seed N] [--clients N] [--queue] [--cluster [--if-possible]]`: a storm
 * (run-storm.ts) whose figures are printed at its end; the exit code is 1 where something happened that may never happen.
 */
import { parseArgs } from 'node:util';
import { startClusterWorld } from '../cluster/cluster-world.ts';
import { demandCluster } from '../cluster/missing.ts';
import { runAlone } from '../support/run-alone.ts';
import type { Ledger } from './ledger.ts';
import { runStorm } from './run-storm.ts';
import { startWorld } from './world.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    rounds: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    clients: { type: 'string', default: '20' },
    queue: { type: 'boolean', default: false },
    cluster: { type: 'boolean', default: false },
    'if-possible': { type: 'boolean', default: false },
  },
});
const { minutes = '10', rounds, queue, cluster } = values;
const delivery = queue ? 'queue' : 'direct';
const duration = rounds === undefined ? { minutes: Number(minutes) } : { rounds: Number(rounds) };
const [seed, clients] = [Number(values.seed), Number(values.clients)];
const numbers = [...Object.values(duration), seed, clients];
if (!numbers.every((number) => number >= 0)) throw new Error('Each option takes a number.');
if (cluster) demandCluster(values['if-possible']);

const began = Date.now();
const onEvent = (text: string) => console.log(`${seconds()} s: ${text}`);

await runAlone(async (whenOver) => {
  const start = cluster
    ? (ledger: Ledger) => startClusterWorld({ delivery, ledger, onEvent }, whenOver)
    : () => startWorld(delivery, whenOver);
  const { figures, violations, complaints } = await runStorm({ clients, seed, duration, onEvent }, start);
  console.log(`\nSeed ${seed}, ${clients} clients, delivery ${delivery}, ${seconds()} s\n`);
  for (const [name, number] of [...figures].sort()) console.log(`${String(number).padStart(8)}  ${name}`);
  console.log('\nLogged:');
  for (const [text, number] of complaints) console.log(`${String(number).padStart(8)}  ${text}`);
  console.log(violations.length === 0 ? '\nEverything held.' : `\nViolations:\n  ${violations.join('\n  ')}`);
  return violations.length === 0;
});

function seconds(): string {
  return ((Date.now() - began) / 1000).toFixed(1);
}
