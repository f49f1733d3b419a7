/**
 * The edge of the process.
 *
 * `bin/pgreflect.js` and the npm scripts run this with a Node that is recent enough; an older one cannot even read the file
 * and never gets here.
 */
import { setFlagsFromString } from 'node:v8';

// What is loaded stays, so the young generation of the heap would grow to its limit meanwhile, and never shrink: 15 MB that
// an idle gateway has no use for. It grows when there is work.
setFlagsFromString('--semi-space-growth-factor=1');
const { runProcess } = await import('./commands/run-process.ts');
setFlagsFromString('--semi-space-growth-factor=2');

await runProcess();
