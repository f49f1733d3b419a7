/**
 * `npm run cluster [-- --only PATTERN]`: a cluster whose machines fail one after the other (run-cluster.ts). Prints what its
 * clients saw; the exit code is 1 where something happened that may never happen.
 */
import { parseArgs } from 'node:util';
import { runAlone } from '../support/run-alone.ts';
import { demandCluster } from './missing.ts';
import { runCluster } from './run-cluster.ts';

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, 'if-possible': { type: 'boolean', default: false } },
});
demandCluster(values['if-possible']);

const began = Date.now();
const onEvent = (text: string) => console.log(`${((Date.now() - began) / 1000).toFixed(1)} s: ${text}`);

await runAlone(async (whenOver) => {
  const report = await runCluster(new RegExp(values.only), onEvent, whenOver);
  console.log('\nRequests:');
  for (const [kind, number] of report.requests) console.log(`${String(number).padStart(8)}  ${kind}`);
  console.log(`${String(report.emails).padStart(8)}  emails\n\nFailed:`);
  for (const [reason, number] of report.reasons) console.log(`${String(number).padStart(8)}  ${reason}`);
  console.log('\nLogged by the gateways:');
  for (const [text, number] of report.logged) console.log(`${String(number).padStart(8)}  ${text}`);
  const { violations } = report;
  console.log(violations.length === 0 ? '\nEverything held.' : `\nViolations:\n  ${violations.join('\n  ')}`);
  return violations.length === 0;
});
