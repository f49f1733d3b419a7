/** A long text kept mostly as bytes: a string of 100 kB, and bytes of it again, take half as long as printing it. */
import { invariant } from './invariant.ts';

/** Bytes of UTF-8 with text around them, readable until they are given away. */
export class Utf8Text {
  readonly #before: string;
  #utf8: Buffer | null;
  readonly #after: string;
  readonly #release: () => void;
  /** Total length in UTF-8. */
  readonly bytes: number;

  /** @param release Frees the memory of `utf8` when it is no longer read; not called if that is uncertain. */
  constructor(before: string, utf8: Buffer, after: string, release: () => void) {
    this.#before = before;
    this.#utf8 = utf8;
    this.#after = after;
    this.#release = release;
    this.bytes = Buffer.byteLength(before) + utf8.length + Buffer.byteLength(after);
  }

  /** The same with more text around it; gives this one away. */
  within(before: string, after: string): Utf8Text {
    return new Utf8Text(before + this.#before, this.#giveAway(), this.#after + after, this.#release);
  }

  /** Writes it to a stream as the stream's end, and gives it away. */
  end(stream: NodeJS.WritableStream): void {
    stream.write(this.#before);
    // After an error, the operating system may still use the memory.
    stream.write(this.#giveAway(), (problem) => {
      if (!problem) this.#release();
    });
    stream.end(this.#after);
  }

  /** Returns it in one buffer, and gives it away. */
  take(): Buffer {
    const whole = Buffer.concat([Buffer.from(this.#before), this.#giveAway(), Buffer.from(this.#after)], this.bytes);
    this.#release();
    return whole;
  }

  toString(): string {
    return this.#before + this.#held().toString() + this.#after;
  }

  #giveAway(): Buffer {
    const utf8 = this.#held();
    this.#utf8 = null;
    return utf8;
  }

  #held(): Buffer {
    // Its memory may belong to another answer by now.
    invariant(this.#utf8 !== null, 'a text that was given away is not read');
    return this.#utf8;
  }
}
