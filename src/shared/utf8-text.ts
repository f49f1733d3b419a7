/**
 * A long text whose largest part is bytes already and stays so: to make a string of 100 kB and bytes of it again, for the socket,
 * takes half as long as to print it.
 */
import { invariant } from './invariant.ts';

/** Bytes of UTF-8 with text around them, which can be read until it is given away. */
export class Utf8Text {
  readonly #before: string;
  #utf8: Buffer | null;
  readonly #after: string;
  readonly #release: () => void;
  /** Length of the whole in UTF-8. */
  readonly bytes: number;

  /** @param release Gives the memory of `utf8` back, when nobody reads it any more; not called where nobody is known to have read it. */
  constructor(before: string, utf8: Buffer, after: string, release: () => void) {
    this.#before = before;
    this.#utf8 = utf8;
    this.#after = after;
    this.#release = release;
    this.bytes = Buffer.byteLength(before) + utf8.length + Buffer.byteLength(after);
  }

  /** The same with more text around it; this one is given away. */
  within(before: string, after: string): Utf8Text {
    return new Utf8Text(before + this.#before, this.#giveAway(), this.#after + after, this.#release);
  }

  /** Gives it away to a stream, as its end. */
  end(stream: NodeJS.WritableStream): void {
    stream.write(this.#before);
    // After an error the operating system may not have let go of it.
    stream.write(this.#giveAway(), (problem) => {
      if (!problem) this.#release();
    });
    stream.end(this.#after);
  }

  /** Gives it away in one piece. */
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
    // Its memory may be another answer's by now.
    invariant(this.#utf8 !== null, 'a text that was given away is not read');
    return this.#utf8;
  }
}
