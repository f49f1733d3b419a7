/**
 * The signals of a process that runs a gateway.
 */
import { constants } from 'node:os';
import type { Gateway } from './gateway.ts';

/**
 * Whoever ends a service tells each of its processes, and a process that supervises others, or npm's shell, tells them as well.
 * So a `SIGTERM` that comes within so many milliseconds of the first signal says nothing new.
 */
const sameWordMs = 2000;

/** How long a process that has stopped in good order waits for what is still open, in milliseconds. */
const lingerMs = 1000;

/**
 * Lets the process obey signals: `SIGTERM` and `SIGINT` stop the gateway and then call `onStopped`, `SIGUSR2` reloads the
 * schema, `SIGHUP` calls `onHangup` (for example to read the configuration again). A second `SIGINT` or `SIGTERM` ends at once.
 */
export function obeySignals(
  gateway: Gateway,
  { onStopped, onHangup }: { readonly onStopped: () => void; readonly onHangup?: () => void },
): void {
  obeyStopSignals(() => void gateway.stop().then(onStopped, () => process.exit(1)));
  // A failed reload is in the log, and the old model stays.
  process.on('SIGUSR2', () => void gateway.reload('signal').catch(() => {}));
  if (onHangup) process.on('SIGHUP', onHangup);
}

/** `SIGTERM` and `SIGINT` call `stop`; whoever asks again does not want to wait, and the process ends at once. */
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

/**
 * Ends a process that has stopped, soon, whatever is still open: a connection to a server that does not answer, for example, is
 * nobody's any more.
 */
export function endSoon(): void {
  setTimeout(() => process.exit(), lingerMs).unref();
}
