/** A worker of `pgreflect serve --workers`: a gateway whose port and collected metrics the supervisor owns. */
import cluster from 'node:cluster';
import { loadConfig } from '../../config/load-config.ts';
import { type Gateway, startGateway } from '../../gateway.ts';
import type { Gather, Reports, Wanted } from '../../reports.ts';
import { obeySignals } from '../../signals.ts';
import type { CommandContext } from '../shared/command.ts';
import { describeError } from '../shared/describe-error.ts';
import { refuseAddress } from '../shared/listen-error.ts';
import { followOptions, type OptionsFollower } from './follow-options.ts';
import { noteFirstOperation } from './serve-notes.ts';
import { type FromWorker, Questions, type ToWorker, workerOf } from './worker-messages.ts';

/** Longest wait for the reports of all processes, in milliseconds. */
const gatherMs = 3000;

/** Serves until told to stop. @returns The exit code. */
export async function serveAsWorker(context: CommandContext): Promise<number> {
  try {
    return await serve(context);
  } finally {
    // The connection to the supervisor would keep the process alive.
    cluster.worker?.disconnect();
  }
}

async function serve(context: CommandContext): Promise<number> {
  const config = loadConfig(context.sources);
  const questions = new Questions<readonly unknown[]>();
  const extras = { gather: gatherBy(questions), worker: workerOf(context.sources) };
  const gateway = await startGateway({ ...config, metricsPort: null }, extras).catch(refuseAddress(config));
  // The supervisor looks at the files, and prints the messages.
  const quiet = { note: () => {}, onTaken: () => {}, watches: false };
  const options = followOptions({ gateway, config, sources: context.sources, load: loadConfig, ...quiet });
  const introduce = () =>
    void noteFirstOperation(config, gateway, context).catch((error) => context.note(describeError(error)));
  const stopped = new Promise<void>((onStopped) => obeySignals(gateway, { onStopped, onHangup: options.readAgain }));
  process.on('message', (message: ToWorker) => obey(message, { gateway, options, questions, introduce }));
  // Start counting early if there is a metrics port.
  if (config.metricsPort !== null) await gateway.readMetrics();
  tell({ kind: 'ready', url: gateway.url });
  context.loaded();
  await stopped;
  options.stop();
  return 0;
}

/** Asks the supervisor, which asks all workers. */
function gatherBy(questions: Questions<readonly unknown[]>): Gather {
  return async <K extends keyof Reports>(wanted: Wanted<K>) => {
    const all = await questions.ask((id) => tell({ kind: 'all_reports_wanted', id, wanted }), gatherMs);
    return (all ?? []) as readonly Reports[K][];
  };
}

interface Parts {
  readonly gateway: Gateway;
  readonly options: OptionsFollower;
  readonly questions: Questions<readonly unknown[]>;
  readonly introduce: () => void;
}

function obey(message: ToWorker, { gateway, options, questions, introduce }: Parts): void {
  // A failed reload is logged; the old model stays.
  const ignore = () => {};
  switch (message.kind) {
    case 'reload':
      gateway.reload(message.reason).catch(ignore);
      break;
    case 'hangup':
      options.readAgain();
      break;
    case 'introduce':
      introduce();
      break;
    case 'report_wanted': {
      const { id, wanted } = message;
      gateway.report(wanted).then((report) => tell({ kind: 'report', id, report }), ignore);
      break;
    }
    case 'all_reports':
      questions.answer(message.id, message.processes);
      break;
  }
}

/** Sends a message to the supervisor, which may have ended. */
function tell(message: FromWorker): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}
