/**
 * Reads the messages of flights, before the driver does: rows stay the bytes that came, and the messages that say no more
 * than "done" cost nothing. The rest (ready, errors, notices, settings) goes on to the driver, whose business it is.
 *
 * Message formats: PostgreSQL manual, "Message Formats". A message that comes in parts is put together here, so the driver is
 * handed whole ones.
 */
import { invariant } from '../shared/invariant.ts';
import { takeDirectly } from './direct-socket.ts';
import type { DriverConnection, DriverStream } from './driver.ts';

/** Who is told of what arrives. Must not throw. */
export interface MessageReceiver {
  /** DataRow. `at` is where the length of the first column stands in `bytes`, which stay as they are until `handleEndOfRead`. */
  handleRow(bytes: Buffer, at: number): void;
  /** RowDescription. `at` is where the number of columns stands in `bytes`. */
  handleDescription(bytes: Buffer, at: number): void;
  /** CommandComplete, or EmptyQueryResponse, which takes its place for an empty text. */
  handleComplete(): void;
  /** The bytes that were given may be written over from now on; more may follow. */
  handleEndOfRead(): void;
}

const parseComplete = 0x31;
const bindComplete = 0x32;
const closeComplete = 0x33;
const dataRow = 0x44;
const rowDescription = 0x54;
const parameterDescription = 0x74;
const noData = 0x6e;
const commandComplete = 0x43;
const emptyQueryResponse = 0x49;
/** Code and length; the length counts itself. */
const headerBytes = 5;

const readers = new WeakMap<DriverConnection, MessageReader>();

/** The reader of one connection. */
export class MessageReader {
  readonly #stream: DriverStream;
  readonly #forward: (messages: Buffer) => void;
  /** The message that has begun to arrive, and how many bytes of it have. */
  #parts: Buffer[] = [];
  #partBytes = 0;
  /** The length of that message, or of its header where that is not complete. */
  #wholeBytes = headerBytes;
  /** The flight that the server is answering; null: everything is the driver's. */
  receiver: MessageReceiver | null = null;

  private constructor(stream: DriverStream, forward: (messages: Buffer) => void) {
    this.#stream = stream;
    this.#forward = forward;
  }

  /** The reader of a connection that is open; from the first call on it stands before the driver. */
  static of(connection: DriverConnection): MessageReader {
    const known = readers.get(connection);
    if (known !== undefined) return known;
    const { stream } = connection;
    const [listener, ...others] = stream.listeners('data');
    invariant(listener !== undefined && others.length === 0, 'the driver alone reads its socket');
    const reader = new MessageReader(stream, listener.bind(stream));
    stream.off('data', listener);
    if (!takeDirectly(stream, (room, length) => reader.read(room, length))) {
      stream.on('data', (bytes) => reader.read(bytes, bytes.length));
    }
    readers.set(connection, reader);
    return reader;
  }

  /** Reads no more until `resume`. */
  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  /** Takes what has arrived: so many bytes, from the beginning. */
  read(bytes: Buffer, length: number): void {
    this.#read(bytes, length);
    this.receiver?.handleEndOfRead();
  }

  #read(bytes: Buffer, length: number): void {
    let at = 0;
    while (this.#partBytes > 0) {
      const taken = Math.min(this.#wholeBytes - this.#partBytes, length - at);
      this.#keep(bytes.subarray(at, at + taken));
      at += taken;
      if (this.#partBytes < this.#wholeBytes) return;
      this.#takeParts();
    }
    while (at + headerBytes <= length) {
      const end = at + 1 + bytes.readUInt32BE(at + 1);
      if (end > length) break;
      this.#message(bytes, at, end);
      at = end;
    }
    if (at < length) this.#keep(bytes.subarray(at, length));
  }

  #keep(bytes: Buffer): void {
    const part = Buffer.from(bytes);
    this.#parts.push(part);
    this.#partBytes += part.length;
    if (this.#parts.length > 1 || part.length < headerBytes) return;
    this.#wholeBytes = 1 + part.readUInt32BE(1);
  }

  /** The parts are a whole message, or its header. */
  #takeParts(): void {
    const [only] = this.#parts;
    const whole = this.#parts.length === 1 ? (only as Buffer) : Buffer.concat(this.#parts, this.#partBytes);
    const length = 1 + whole.readUInt32BE(1);
    if (length > whole.length) {
      this.#parts = [whole];
      this.#wholeBytes = length;
      return;
    }
    this.#parts = [];
    this.#partBytes = 0;
    this.#wholeBytes = headerBytes;
    this.#message(whole, 0, whole.length);
  }

  #message(bytes: Buffer, at: number, end: number): void {
    const { receiver } = this;
    if (receiver !== null) {
      switch (bytes[at]) {
        case dataRow:
          receiver.handleRow(bytes, at + headerBytes + 2);
          return;
        case commandComplete:
        case emptyQueryResponse:
          receiver.handleComplete();
          return;
        case rowDescription:
          receiver.handleDescription(bytes, at + headerBytes);
          return;
        case parameterDescription:
        case noData:
        case parseComplete:
        case bindComplete:
        case closeComplete:
          return;
      }
    }
    this.#forward(bytes.subarray(at, end));
  }
}
