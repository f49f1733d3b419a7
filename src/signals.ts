/** The signals of a process that runs a gateway. */
import { constants } from 'node:os';
import type { Gateway } from './gateway.ts';

/**
 * Service managers signal each process, and a supervisor or npm's shell forwards the signal. A `SIGTERM` within this
 * many milliseconds of the first signal is therefore a repetition.
 */
const sameWordMs = 2000;

/** How long a stopped process waits for open handles, in milliseconds. */
const lingerMs = 1000;

/**
 * Handles signals: `SIGTERM` and `SIGINT` stop the gateway and then call `onStopped`, `SIGUSR2` reloads the schema,
 * `SIGHUP` calls `onHangup` (for example, to read the configuration again). A second `SIGINT` or `SIGTERM` ends at
 * once.
 */
export function obeySignals(
  gateway: Gateway,
  { onStopped, onHangup }: { readonly onStopped: () => void; readonly onHangup?: () => void },
): void {
  obeyStopSignals(() => void gateway.stop().then(onStopped, () => process.exit(1)));
  // The log has a failed reload; the old model stays.
  process.on('SIGUSR2', () => void gateway.reload('signal').catch(() => {}));
  if (onHangup) process.on('SIGHUP', onHangup);
}

/** `SIGTERM` and `SIGINT` call `stop`; a repeated one ends the process at once. */
export function obeyStopSignals(stop: () => void): void {
  let stopsSince: number | null = null;
  const obey = (signal: 'SIGTERM' | 'SIGINT') => {
    if (stopsSince === null) {
      stopsSince = performance.now();
      return stop();
    }
    if (signal === 'SIGTERM' && performance.now() - stopsSince < sameWordMs) return;
    process.exit(128 + constants.signals[signal]);
  };
  process.on('SIGTERM', obey);
  process.on('SIGINT', obey);
}

/** Ends a stopped process soon, whatever is still open, for example a connection to a server that does not answer. */
export function endSoon(): void {
  setTimeout(() => process.exit(), lingerMs).unref();
}
