/**
 * The edge of the process.
 *
 * `bin/pgreflect.js` and the npm scripts run this with a recent Node; an older one cannot even parse the file.
 */
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';

// Loading modules and the schema fills the young generation of the heap, which would grow to its limit and never shrink:
// 25 MB of 145 that an idle gateway with 300 tables does not need. It still grows under load, and where a schema is so large
// that collecting it time and again costs a second.
setFlagsFromString('--semi-space-growth-factor=1');
const largeHeapBytes = 64e6;
const collections = new PerformanceObserver(() => {
  if (getHeapStatistics().used_heap_size > largeHeapBytes) letGrow();
});
collections.observe({ entryTypes: ['gc'] });
const { runProcess } = await import('./cli/run-process.ts');
await runProcess(letGrow);

function letGrow(): void {
  collections.disconnect();
  setFlagsFromString('--semi-space-growth-factor=2');
}
