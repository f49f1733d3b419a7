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
import { canSign } from '../../auth/open-auth.ts';
import { changeOptions, namedInFile } from '../../change-options.ts';
import type { Config } from '../../config/config.ts';
import { LiveConfig } from '../../config/live-config.ts';
import { loadConfig } from '../../config/load-config.ts';
import { loggingOf } from '../../config/logging.ts';
import type { Gather, Reports, Wanted } from '../../reports.ts';
import { createTokenVerifier, type TokenOptions } from '../../server/caller/verify-token.ts';
import { Meter } from '../../server/metrics/metrics.ts';
import { type MetricsServer, serveMetrics } from '../../server/metrics/metrics-route.ts';
import { printMetrics } from '../../server/metrics/print-metrics.ts';
import type { Snapshot } from '../../server/metrics/snapshot.ts';
import { systemClock } from '../../shared/clock.ts';
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
  const live = new LiveConfig(config);
  const logger = await createLogger(loggingOf(live.current));
  const meter = new Meter(null);
  const observe: Observe = (observation) => {
    meter.observe(observation);
    logger.observe(observation);
  };
  const gatherSeries = async () => [await meter.read(), ...(await workers.series())];
  // This process has metrics of its own, and no requests.
  const gather: Gather = async <K extends keyof Reports>(wanted: Wanted<K>) =>
    wanted.what === 'series'
      ? ((await gatherSeries()) as readonly unknown[] as readonly Reports[K][])
      : workers.reports(wanted);
  const workers: Workers = new Workers({
    count: config.workers,
    drainTimeoutMs: () => live.current.drainTimeoutMs,
    observe,
    gather,
  });
  let options: OptionsFollower | null = null;
  const stopped = new Promise<void>((onStopped) => {
    // If this process ends, the workers lose their connection to it and end, too.
    handleSignals({
      onStop: () => void workers.stop().then(onStopped),
      onReload: () => workers.tell({ kind: 'reload', reason: 'signal' }),
      onHangup: () => options?.readAgain(),
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
    options = followFor(workers, live, context);
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

/** Options of this process, which workers that start again do not take over. */
const ownOptions: ReadonlySet<string> = new Set<keyof Config>(['host', 'port', 'metricsPort', 'workers', 'logFormat']);

/**
 * Looks at the files and prints the messages. What can be taken over is tried here first; then the workers read it, or
 * are replaced one by one.
 */
function followFor(workers: Workers, live: LiveConfig, context: CommandContext): OptionsFollower {
  const { current: config } = live;
  const [noKeys, done] = [() => {}, async () => {}];
  const authenticate = {
    prepare: (next: TokenOptions) => createTokenVerifier(next, systemClock, () => {}).then(() => noKeys),
  };
  const auth = canSign(config) ? { prepareSigner: async () => noKeys } : null;
  const gateway = {
    changeOptions: (next: Config) => changeOptions({ live, authenticate, auth }, next),
    expose: done,
    configureAuth: done,
  };
  const onTaken = (needRestart: readonly string[]) => {
    const own = needRestart.filter((name) => ownOptions.has(name));
    if (own.length > 0) context.note(`Warning: A restart is needed for: ${own.map(namedInFile).join(', ')}.`);
    const others = needRestart.filter((name) => !ownOptions.has(name)).map(namedInFile);
    if (others.length === 0) return workers.tell({ kind: 'hangup' });
    context.note(`The workers are replaced one by one for: ${others.join(', ')}.`);
    void workers.replaceAll().then((areReplaced) => {
      if (!areReplaced) context.note('A new worker could not serve. The others go on with the options they have.');
      workers.tell({ kind: 'hangup' });
    });
  };
  const follow = { config: { ...config }, sources: context.sources, load: loadConfig, note: context.note, onTaken };
  return followOptions({ gateway, ...follow });
}
