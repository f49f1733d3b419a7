/**
 * The edge of the process.
 *
 * `bin/pgreflect.js` and the npm scripts run this with a recent Node; an older one cannot even parse the file.
 */
import { setFlagsFromString } from 'node:v8';

// Loading modules fills the young generation of the heap, which would grow to its limit and never shrink: 15 MB that an
// idle gateway does not need. It still grows under load.
setFlagsFromString('--semi-space-growth-factor=1');
const { runProcess } = await import('./cli/run-process.ts');
await runProcess(() => setFlagsFromString('--semi-space-growth-factor=2'));
