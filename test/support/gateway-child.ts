/**
 * A gateway in a process of its own; see gateway-process.ts. The configuration comes as the first argument, questions as messages.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Config, defaultConfig } from '../../src/config/config.ts';
import { startGateway } from '../../src/gateway.ts';

const given = JSON.parse(process.argv[2] ?? '') as Partial<Config>;
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const problems: unknown[] = [];
const gateway = await startGateway({ ...defaultConfig, ...given } as Config, {
  observe: (observation) => {
    if (observation.kind === 'masked_error') problems.push(String(observation.error));
  },
});
const tell = (message: object) => process.send?.(message);
process.on('message', (question) => {
  if (question === 'memory') tell({ peakBytes: process.resourceUsage().maxRSS * 1024, problems });
  if (question === 'kept') tellKept();
});
function tellKept(): void {
  collectGarbage();
  // What a first collection finalizes is free only in the next one.
  setTimeout(() => {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    tell({ keptBytes: heapUsed + external });
  }, 100);
}
process.on('SIGTERM', () => void gateway.stop().then(() => process.exit(0)));
tell({ url: gateway.url });
