/**
 * Standard output for log lines: many cost one write. Each write is of whole lines, and so short that those of several
 * processes do not mix. A slow, blocked or closed reader neither stops this process nor keeps it from ending.
 *
 * Writes are synchronous: for a pipe they cost less than passing them to another thread, and nothing is under way when
 * the process ends.
 */
import { pino } from 'pino';

/** Where lines go. */
interface LogOutput {
  /** Adds one line, including its line break; drops it while too much waits for a blocked reader. */
  write(line: string): void;
  /** Writes as much as the reader takes now. */
  flush(): void;
}

/** POSIX guarantees that a pipe takes so many bytes at once, or none. */
const writeBytes = 4096;
/** Bytes that are gathered for one write. */
const gatheredBytes = 3000;
/** Longest time until a gathered line is written, and between attempts while the reader is blocked, in milliseconds. */
const flushMs = 500;
/** Most bytes that wait for a blocked reader. */
const maxBytes = 16 * 1024 * 1024;
/** How long an ending process waits for a blocked reader, in milliseconds. */
const lastWaitMs = 300;

const outputs = new Map<boolean, LogOutput>();

/** The output of this process. @param gathers False, for a terminal: each line is written at once. */
export function logOutput(gathers: boolean): LogOutput {
  const output = outputs.get(gathers) ?? openOutput(gathers);
  outputs.set(gathers, output);
  return output;
}

function openOutput(gathers: boolean): LogOutput {
  let waitsUntil = 0;
  let hasFailed = false;
  const output = pino.destination({
    // To name it makes it non-blocking. In a worker thread it has no number.
    dest: process.stdout.fd ?? 1,
    sync: true,
    minLength: gathers ? gatheredBytes : 1,
    maxWrite: writeBytes,
    maxLength: maxBytes,
    periodicFlush: flushMs,
    retryEAGAIN: () => performance.now() < waitsUntil,
  });
  output.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code !== 'EAGAIN') hasFailed = true;
  });
  process.once('exit', () => {
    output.flush();
    // The reader is gone or the disk is full, and `flushSync` would try for ever.
    if (hasFailed) return;
    waitsUntil = performance.now() + lastWaitMs;
    try {
      output.flushSync();
    } catch {
      // Nobody reads.
    }
  });
  return output;
}
