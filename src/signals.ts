/** The signals of a process that runs a gateway. */
import { constants } from 'node:os';
import { isatty } from 'node:tty';
import type { Gateway } from './gateway.ts';

/**
 * One wish to stop arrives several times: a terminal signals each process, and npm, a supervisor and our launcher forward
 * the signal. Within this many milliseconds of the first, signals are repetitions.
 */
const sameWishMs = 1000;

/** How long a stopped process waits for open handles, in milliseconds. */
const lingerMs = 1000;

/** What a gateway's process does on a signal. */
interface SignalHandlers {
  /** `SIGTERM`, `SIGINT`, `SIGQUIT`, and the `SIGHUP` of a terminal that closes; once. */
  readonly onStop: () => void;
  /** `SIGUSR2`. */
  readonly onReload: () => void;
  /** `SIGHUP` from anyone else. */
  readonly onHangup: () => void;
}

/** Handles the signals of a gateway: a stop calls `onStopped` in the end. The log has a failed reload; the old model stays. */
export function obeySignals(
  gateway: Gateway,
  { onStopped, onHangup }: { readonly onStopped: () => void; readonly onHangup: () => void },
): void {
  handleSignals({
    onStop: () => void gateway.stop().then(onStopped, () => process.exit(1)),
    onReload: () => void gateway.reload('signal').catch(() => {}),
    onHangup,
  });
}

/** Handles signals. A second wish to stop ends the process at once. */
export function handleSignals({ onStop, onReload, onHangup }: SignalHandlers): void {
  let stopsSince: number | null = null;
  const stop = (signal: NodeJS.Signals) => {
    if (stopsSince === null) {
      stopsSince = performance.now();
      return onStop();
    }
    if (performance.now() - stopsSince > sameWishMs) process.exit(128 + constants.signals[signal]);
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGQUIT'] as const) process.on(signal, stop);
  process.on('SIGUSR2', onReload);
  const hadTerminal = isOnTerminal();
  process.on('SIGHUP', (signal) => (hadTerminal && !isOnTerminal() ? stop(signal) : onHangup()));
}

/** False under `nohup` and service managers. One that has closed is no terminal any more. */
function isOnTerminal(): boolean {
  return [0, 1, 2].some((file) => isatty(file));
}

/** Ends a stopped process soon, whatever is still open, for example a connection to a server that does not answer. */
export function endSoon(): void {
  setTimeout(() => process.exit(), lingerMs).unref();
}
