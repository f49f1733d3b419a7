/**
 * A gateway in a process of its own; see gateway-process.ts. The configuration comes as the first argument, questions as messages.
 */
import { type Config, defaultConfig } from '../../src/config/config.ts';
import { startGateway } from '../../src/gateway.ts';

const given = JSON.parse(process.argv[2] ?? '') as Partial<Config>;
const problems: unknown[] = [];
const gateway = await startGateway({ ...defaultConfig, ...given } as Config, {
  observe: (observation) => {
    if (observation.kind === 'masked_error') problems.push(String(observation.error));
  },
});
const tell = (message: object) => process.send?.(message);
process.on('message', (question) => {
  if (question === 'memory') tell({ peakBytes: process.resourceUsage().maxRSS * 1024, problems });
});
process.on('SIGTERM', () => void gateway.stop().then(() => process.exit(0)));
tell({ url: gateway.url });
