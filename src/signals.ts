/**
 * The signals of a process that runs a gateway.
 */
import type { Gateway } from './gateway.ts';

/**
 * Lets the process obey signals: `SIGTERM` and `SIGINT` stop the gateway and then call `onStopped`, `SIGUSR2` reloads the
 * schema, `SIGHUP` calls `onHangup` (for example to read the configuration again). A second `SIGINT` ends at once; a second
 * `SIGTERM` says nothing new, and comes where a service manager and a supervisor both tell each process to stop.
 */
export function obeySignals(
  gateway: Gateway,
  { onStopped, onHangup }: { readonly onStopped: () => void; readonly onHangup?: () => void },
): void {
  let isStopping = false;
  const stop = (): void => {
    if (isStopping) return;
    isStopping = true;
    process.once('SIGINT', () => process.exit(130));
    gateway.stop().then(onStopped, () => process.exit(1));
  };
  process.on('SIGTERM', stop);
  process.once('SIGINT', stop);
  // A failed reload is in the log, and the old model stays.
  process.on('SIGUSR2', () => void gateway.reload('signal').catch(() => {}));
  if (onHangup) process.on('SIGHUP', onHangup);
}
