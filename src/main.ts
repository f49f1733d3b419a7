/**
 * The edge of the process.
 *
 * `bin/pgreflect.js` and the npm scripts run this with a recent Node; an older one cannot even parse the file.
 */
import { setFlagsFromString } from 'node:v8';

// Loading modules and the schema fills the young generation of the heap, which would grow to its limit and never shrink:
// 25 MB of 145 that an idle gateway with 300 tables does not need. It still grows under load.
setFlagsFromString('--semi-space-growth-factor=1');
const { runProcess } = await import('./cli/run-process.ts');
await runProcess(() => setFlagsFromString('--semi-space-growth-factor=2'));
