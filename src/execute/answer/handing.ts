/**
 * Hands a large answer on while its rows arrive, instead of keeping it.
 *
 * From the first part on the status is said and the answer can only be finished or broken off, so this is for answers past
 * what an operator's limit allowed anyway (http/graphql/answer-stream.ts).
 */
import type { AnswerStream, OpenStream } from '../executor.ts';

/** What comes before `data` in the body. */
const bodyStart = '{"data":';

function ignore(): void {}

/** One answer on its way to its client. */
export class Handing {
  readonly #open: OpenStream;
  #stream: AnswerStream | null = null;

  constructor(open: OpenStream) {
    this.#open = open;
  }

  /** Something of the answer has been written. */
  get hasBegun(): boolean {
    return this.#stream !== null;
  }

  /** Writes the next part of `data` and releases it; false: wait for `onDrain`. */
  write(start: string, rows: Buffer, release: () => void): boolean {
    if (this.#stream === null) {
      this.#stream = this.#open();
      this.#stream.write(Buffer.from(bodyStart + start), ignore);
    }
    return this.#stream.write(rows, release);
  }

  /** Calls back once, when more may be written. */
  onDrain(listener: () => void): void {
    this.#stream?.onDrain(listener);
  }
}
