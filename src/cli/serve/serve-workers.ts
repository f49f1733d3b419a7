/**
 * `pgreflect serve --workers N`: this process supervises N workers that answer the requests.
 *
 * They share the port through `node:cluster`: this process accepts connections and passes each to the next worker. The
 * kernel's sharing (`reusePort`) would save that step, but a process that ends loses the connections in its queue, a
 * second gateway could take the same port silently, and few connections are spread badly. Passing costs once per
 * connection, not per request.
 *
 * Also collects the metrics of all.
 */
import type { Config } from '../../config/config.ts';
import { loadConfig } from '../../config/load-config.ts';
import { loggingOf } from '../../config/logging.ts';
import type { Gather } from '../../gateway.ts';
import { Meter } from '../../server/metrics/metrics.ts';
import { type MetricsServer, serveMetrics } from '../../server/metrics/metrics-route.ts';
import { printMetrics } from '../../server/metrics/print-metrics.ts';
import type { Snapshot } from '../../server/metrics/snapshot.ts';
import { createLogger } from '../../shared/logger.ts';
import type { Observe } from '../../shared/observation.ts';
import { handleSignals } from '../../signals.ts';
import type { CommandContext } from '../shared/command.ts';
import { refuseAddress } from '../shared/listen-error.ts';
import { followOptions, type OptionsFollower } from './follow-options.ts';
import { noteServing } from './serve-notes.ts';
import { Workers } from './workers.ts';

/** Serves until a signal ends it. @returns The exit code. */
export async function serveWithWorkers(config: Config, context: CommandContext): Promise<number> {
  const logger = await createLogger(loggingOf(config));
  const meter = new Meter(null);
  const observe: Observe = (observation) => {
    meter.observe(observation);
    logger.observe(observation);
  };
  const gatherSeries = async () => [await meter.read(), ...(await workers.series())];
  // This process has metrics of its own, and no live queries.
  const gather: Gather = { series: gatherSeries, live: () => workers.live() };
  const workers: Workers = new Workers({
    count: config.workers,
    drainTimeoutMs: config.drainTimeoutMs,
    observe,
    gather,
  });
  let options: OptionsFollower | null = null;
  const stopped = new Promise<void>((onStopped) => {
    // If this process ends, the workers lose their connection to it and end, too.
    handleSignals({
      onStop: () => void workers.stop().then(onStopped),
      onReload: () => workers.tell({ kind: 'reload', reason: 'signal' }),
      onHangup() {
        options?.readAgain();
        workers.tell({ kind: 'hangup' });
      },
    });
  });
  let metrics: MetricsServer | null = null;
  try {
    metrics = await openMetricsPort(config, meter, gatherSeries);
    const url = await workers.start();
    if (url === null) {
      // A signal came first, or no worker could serve, and has printed why.
      const code = workers.wasTold ? 0 : 1;
      await workers.stop();
      return code;
    }
    options = followFor(config, context);
    // The database may stop answering meanwhile.
    await Promise.race([noteServing(config, url, context), stopped]);
    if (metrics !== null) context.note(`Metrics: http://${config.host}:${metrics.port}/metrics`);
    workers.introduce();
    context.loaded();
    await stopped;
    options.stop();
    return 0;
  } finally {
    await metrics?.stop();
    logger.flush();
  }
}

async function openMetricsPort(
  config: Config,
  meter: Meter,
  gather: () => Promise<readonly Snapshot[]>,
): Promise<MetricsServer | null> {
  const { host, metricsPort } = config;
  if (metricsPort === null) return null;
  meter.begin();
  const address = { host, port: metricsPort };
  return serveMetrics(address, async (accept) => printMetrics(await gather(), accept)).catch(refuseAddress(config));
}

/** Each worker follows the file itself; the supervisor prints the messages. */
function followFor(config: Config, context: CommandContext): OptionsFollower {
  const gateway = { expose: async () => {}, configureAuth: async () => {} };
  return followOptions({ gateway, config, sources: context.sources, load: loadConfig, note: context.note });
}
