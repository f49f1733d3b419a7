/**
 * Buffers log lines for standard output, so that many cost one write, and never waits. A slow, blocked or closed reader
 * neither stops this process nor keeps it from ending.
 *
 * Writes are synchronous: for a pipe they cost less than passing them to another thread, and nothing is pending when
 * the process ends. `sonic-boom`, the output of pino, sleeps in such writes until a blocked reader goes on.
 */
import { writeSync } from 'node:fs';

/** Options of buffering. */
export interface LogOutputOptions {
  /** Buffered bytes that trigger a write; 0: each line at once. */
  readonly gatherBytes: number;
  /** Largest write in bytes; consists of whole lines if they are shorter. */
  readonly pieceBytes: number;
  /** Default: standard output. */
  readonly descriptor?: number;
}

/** Longest buffering of a line, and pause before retrying a blocked reader, in milliseconds. */
const gatherMs = 500;
const againMs = 100;
/** Lines are dropped while this many bytes wait for a reader. */
const maxBytes = 16 * 1024 * 1024;
/** How long an ending process waits for a blocked reader, in milliseconds. */
const lastWaitMs = 300;

const standardOutput = 1;

const waiting = new Set<LogOutput>();
let endsInOrder = false;

/** Buffers and writes lines. */
export class LogOutput {
  readonly #options: LogOutputOptions;
  /** Unwritten pieces of whole lines; the first may be partly written. */
  readonly #pieces: Buffer[] = [];
  /** Lines not yet in a piece. */
  #lines = '';
  #lineBytes = 0;
  #pieceBytes = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: LogOutputOptions) {
    this.#options = options;
  }

  /** Adds one line, including its line break. */
  write(line: string): void {
    const bytes = Buffer.byteLength(line);
    if (this.#pieceBytes + this.#lineBytes + bytes > maxBytes) return;
    const { gatherBytes, pieceBytes } = this.#options;
    if (this.#lineBytes + bytes > pieceBytes) this.#closePiece();
    this.#lines += line;
    this.#lineBytes += bytes;
    this.#remember();
    // With pieces left, the reader is blocked, and the timer retries.
    if (this.#pieces.length === 0 ? this.#lineBytes >= gatherBytes : this.#timer === null) this.flush();
    else this.#startTimer(gatherMs);
  }

  /** Writes as much of the buffer as the reader accepts now. */
  flush(): void {
    this.#closePiece();
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#writePieces()) waiting.delete(this);
    else this.#startTimer(againMs);
  }

  /** Writes the rest at the end of the process; gives a blocked reader a moment. */
  finish(): void {
    this.#closePiece();
    const end = performance.now() + lastWaitMs;
    while (!this.#writePieces() && performance.now() < end) pause(10);
  }

  #closePiece(): void {
    if (this.#lineBytes === 0) return;
    this.#pieces.push(Buffer.from(this.#lines));
    this.#pieceBytes += this.#lineBytes;
    this.#lines = '';
    this.#lineBytes = 0;
  }

  /** @returns False if the reader is blocked. */
  #writePieces(): boolean {
    const { descriptor = standardOutput } = this.#options;
    for (let piece = this.#pieces[0]; piece !== undefined; piece = this.#pieces[0]) {
      let written: number;
      try {
        written = writeSync(descriptor, piece);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return false;
        // The reader is gone or the disk is full; only the log itself could report that.
        written = piece.length;
      }
      this.#pieceBytes -= written;
      if (written === piece.length) this.#pieces.shift();
      else this.#pieces[0] = piece.subarray(written);
    }
    return true;
  }

  #startTimer(ms: number): void {
    this.#timer ??= setTimeout(() => this.flush(), ms).unref();
  }

  #remember(): void {
    waiting.add(this);
    if (endsInOrder) return;
    endsInOrder = true;
    process.once('exit', () => {
      for (const output of waiting) output.finish();
    });
  }
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
