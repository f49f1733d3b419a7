/**
 * `npm run cluster [-- --only PATTERN]`: a cluster whose machines fail one after the other (run-cluster.ts). Prints what its
 * clients saw; the exit code is 1 where something happened that may never happen.
 */
import { parseArgs } from 'node:util';
import { whatIsMissing } from './missing.ts';
import { runCluster } from './run-cluster.ts';

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, 'if-possible': { type: 'boolean', default: false } },
});
const missing = whatIsMissing();
if (missing.length > 0) {
  console.log(`A cluster cannot run here. Missing: ${missing.join('; ')}.`);
  process.exit(values['if-possible'] ? 0 : 1);
}

const began = Date.now();
const seconds = () => ((Date.now() - began) / 1000).toFixed(1);
const ends: (() => Promise<void>)[] = [];
let isOver = false;

/** Ends everything, also what a failure has left half-started. */
async function endAll(): Promise<void> {
  if (isOver) return;
  isOver = true;
  for (const end of ends.reverse()) await end().catch((error: unknown) => console.log(error));
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => void endAll().finally(() => process.exit(130)));

try {
  const onEvent = (text: string) => console.log(`${seconds()} s: ${text}`);
  const report = await runCluster(new RegExp(values.only), onEvent, (end) => void ends.push(end));
  console.log('\nRequests:');
  for (const [kind, number] of report.requests) console.log(`${String(number).padStart(8)}  ${kind}`);
  console.log(`${String(report.emails).padStart(8)}  emails\n\nFailed:`);
  for (const [reason, number] of report.reasons) console.log(`${String(number).padStart(8)}  ${reason}`);
  console.log('\nLogged by the gateways:');
  for (const [text, number] of report.logged) console.log(`${String(number).padStart(8)}  ${text}`);
  const { violations } = report;
  console.log(violations.length === 0 ? '\nEverything held.' : `\nViolations:\n  ${violations.join('\n  ')}`);
  process.exitCode = violations.length === 0 ? 0 : 1;
} catch (error) {
  console.log(error);
  process.exitCode = 1;
} finally {
  await endAll();
}
process.exit();
