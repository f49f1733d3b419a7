/**
 * Encodes the messages of a flight (PostgreSQL manual, "Message Formats") in one buffer, so that a flight is one write.
 *
 * The driver makes a buffer per message and about ten socket writes; one write takes a third of the time. Only the seven
 * messages of a flight are here, with results as text; the driver sends all others.
 */

/** Larger messages are returned without copying; smaller ones are copied, and the buffer is reused. */
const roomSize = 64 * 1024;
/** Up to this length a string reserves three bytes per character, the maximum, without being measured. */
const maxUnmeasured = 2048;

/** Execute of the unnamed portal without a row limit. */
const execute = Buffer.from([0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0]);
/** Describe of the unnamed portal, and the same Execute. */
const describeAndExecute = Buffer.concat([Buffer.from([0x44, 0, 0, 0, 6, 0x50, 0]), execute]);
const sync = Buffer.from([0x53, 0, 0, 0, 4]);
const flush = Buffer.from([0x48, 0, 0, 0, 4]);

/** Collects messages until `take`. Used by one flight at a time, without an await in between. */
export class MessageWriter {
  #room = Buffer.allocUnsafeSlow(roomSize);
  #at = 0;

  /** Parse: names a text; the empty name is the unnamed statement. */
  parse(name: string, text: string): this {
    const start = this.#open(0x50);
    this.#zeroEnded(name);
    this.#zeroEnded(text);
    this.#int16(0);
    return this.#close(start);
  }

  /** Bind to the unnamed portal, in text, and Execute. @param describes With Describe, to get the columns. */
  run(name: string, values: readonly (string | null)[] | Uint8Array, describes = false): this {
    const start = this.#open(0x42);
    this.#zeroEnded('');
    this.#zeroEnded(name);
    if (values instanceof Uint8Array) this.append(values);
    else this.values(values);
    return this.#close(start).append(describes ? describeAndExecute : execute);
  }

  /** The part of a Bind that holds the values. */
  values(values: readonly (string | null)[]): this {
    this.#int16(0);
    this.#int16(values.length);
    for (const value of values) this.#value(value);
    this.#int16(0);
    return this;
  }

  close(name: string): this {
    const start = this.#open(0x43);
    this.#reserve(1);
    this.#room[this.#at++] = 0x53;
    this.#zeroEnded(name);
    return this.#close(start);
  }

  /** Flush: the server sends the answers that it has. */
  flush(): this {
    return this.append(flush);
  }

  /** Sync: the end of a flight. */
  sync(): this {
    return this.append(sync);
  }

  append(messages: Uint8Array): this {
    this.#reserve(messages.length);
    this.#room.set(messages, this.#at);
    this.#at += messages.length;
    return this;
  }

  /** Returns everything since the last call, in its own memory. */
  take(): Buffer {
    const length = this.#at;
    this.#at = 0;
    if (length > roomSize / 4) {
      const taken = this.#room.subarray(0, length);
      this.#room = Buffer.allocUnsafeSlow(roomSize);
      return taken;
    }
    const taken = Buffer.allocUnsafe(length);
    this.#room.copy(taken, 0, 0, length);
    return taken;
  }

  /** Drops the messages of a failed flight. */
  clear(): void {
    this.#at = 0;
    if (this.#room.length > roomSize) this.#room = Buffer.allocUnsafeSlow(roomSize);
  }

  #open(kind: number): number {
    this.#reserve(5);
    this.#room[this.#at] = kind;
    this.#at += 5;
    return this.#at - 4;
  }

  #close(start: number): this {
    this.#int32At(this.#at - start, start);
    return this;
  }

  #value(value: string | null): void {
    const start = this.#at;
    this.#reserve(4);
    this.#at += 4;
    if (value !== null) this.#text(value);
    this.#int32At(value === null ? -1 : this.#at - start - 4, start);
  }

  #zeroEnded(text: string): void {
    this.#text(text);
    this.#reserve(1);
    this.#room[this.#at++] = 0;
  }

  #text(text: string): void {
    const { length } = text;
    if (length === 0) return;
    this.#reserve(length <= maxUnmeasured ? 3 * length : Buffer.byteLength(text));
    this.#at += this.#room.write(text, this.#at);
  }

  #int16(value: number): void {
    this.#reserve(2);
    this.#room[this.#at++] = value >>> 8;
    this.#room[this.#at++] = value;
  }

  #int32At(value: number, at: number): void {
    this.#room[at] = value >>> 24;
    this.#room[at + 1] = value >>> 16;
    this.#room[at + 2] = value >>> 8;
    this.#room[at + 3] = value;
  }

  #reserve(size: number): void {
    const wanted = this.#at + size;
    if (wanted <= this.#room.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#room.length, wanted));
    this.#room.copy(larger, 0, 0, this.#at);
    this.#room = larger;
  }
}
