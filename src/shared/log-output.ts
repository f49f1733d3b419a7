/**
 * Log lines on standard output: gathered, so that many cost one write, and never waited for. Whoever reads them may be slow,
 * stand still or be gone, which neither keeps this process from working nor from ending.
 *
 * Writes are synchronous: to a pipe they cost less than handing them to another thread, and a process that ends has nothing
 * under way.
 */
import { writeSync } from 'node:fs';

/** How lines are gathered. */
export interface LogOutputOptions {
  /** Bytes that are written as soon as they are there; 0: each line at once. */
  readonly gatherBytes: number;
  /** Most bytes of one write, which has whole lines wherever they are shorter. */
  readonly pieceBytes: number;
  /** Standard output unless told. */
  readonly descriptor?: number;
}

/** Longest time that a line is gathered, and until a reader that takes nothing is tried again, in milliseconds. */
const gatherMs = 500;
const againMs = 100;
/** Lines that come while so many bytes wait for a reader are dropped. */
const mostBytes = 16 * 1024 * 1024;
/** How long a process that ends waits for a reader that takes nothing, in milliseconds. */
const lastWaitMs = 300;

const standardOutput = 1;

/** Those with lines that are not written yet. */
const waiting = new Set<LogOutput>();
let endsInOrder = false;

/** Takes lines and writes them. */
export class LogOutput {
  readonly #options: LogOutputOptions;
  /** What is not written yet, in pieces of whole lines; of the first a part may have been. */
  readonly #pieces: Buffer[] = [];
  /** Lines behind the pieces. */
  #lines = '';
  #lineBytes = 0;
  #pieceBytes = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: LogOutputOptions) {
    this.#options = options;
  }

  /** Takes one line, with its end. */
  write(line: string): void {
    const bytes = Buffer.byteLength(line);
    if (this.#pieceBytes + this.#lineBytes + bytes > mostBytes) return;
    const { gatherBytes, pieceBytes } = this.#options;
    if (this.#lineBytes + bytes > pieceBytes) this.#closePiece();
    this.#lines += line;
    this.#lineBytes += bytes;
    this.#remember();
    // With pieces left the reader takes nothing at the moment, and is tried again by the timer.
    if (this.#pieces.length === 0 ? this.#lineBytes >= gatherBytes : this.#timer === null) this.flush();
    else this.#startTimer(gatherMs);
  }

  /** Writes what has been gathered, as far as the reader takes it now. */
  flush(): void {
    this.#closePiece();
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#writePieces()) waiting.delete(this);
    else this.#startTimer(againMs);
  }

  /** Writes what is left at the end of the process; a reader that takes nothing has a moment to change its mind. */
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

  /** @returns False where the reader takes no more at the moment. */
  #writePieces(): boolean {
    const { descriptor = standardOutput } = this.#options;
    for (let piece = this.#pieces[0]; piece !== undefined; piece = this.#pieces[0]) {
      let written: number;
      try {
        written = writeSync(descriptor, piece);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return false;
        // There is no reader any more, or no room on the disk: nobody could be told but by the log.
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
