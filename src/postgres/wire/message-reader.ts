/**
 * Reads the messages of flights before the driver: rows stay bytes, and messages that only mean "done" cost nothing.
 * The others (ready, errors, settings) go to the driver, joined where they arrive in parts. Notices are dropped: nothing
 * reads them, and user code can raise a million a second.
 *
 * Oversized messages, which user code can cause, are never buffered: their announced length decides, and the rest is
 * dropped on arrival (`#cut`). Message formats: PostgreSQL manual, "Message Formats".
 */
import { invariant } from '../../shared/invariant.ts';
import { DatabaseError } from '../database-error.ts';
import { takeDirectly } from './direct-socket.ts';
import type { DriverConnection, DriverStream } from './driver-connection.ts';

/** Receives the messages of a flight. Must not throw. */
export interface MessageReceiver {
  /** DataRow. `at` is the offset of the first column's length in `bytes`, which are valid until `handleEndOfRead`. */
  handleRow(bytes: Buffer, at: number): void;
  /** A long row was announced and is about to be buffered. False: it must not be, and is dropped as too long. */
  handleLongRow(bytes: number): boolean;
  /** Instead of `handleRow`, for a row too long to buffer. False: rows are not accepted. */
  handleLargeRow(): boolean;
  /** CommandComplete, or EmptyQueryResponse for an empty text. A tag with a number of rows has it before `end`. */
  handleComplete(bytes: Buffer, end: number): void;
  /** NoticeResponse that is not too long. */
  handleNotice(): void;
  /** The bytes passed so far are about to be overwritten; more messages may follow. */
  handleEndOfRead(): void;
}

/** Longest message of a connection without a known limit: a catalog is one row. */
const defaultMessageBytes = 256 * 1024 * 1024;

const parseComplete = 0x31;
const bindComplete = 0x32;
const closeComplete = 0x33;
const dataRow = 0x44;
const commandComplete = 0x43;
const emptyQueryResponse = 0x49;
const errorResponse = 0x45;
const noticeResponse = 0x4e;
const parameterStatus = 0x53;
const copyData = 0x64;
/** Code and length; the length counts itself. */
const headerBytes = 5;
/** Longest part of an error that is read. User code writes its text. */
const maxErrorBytes = 64 * 1024;
/** So many bytes are from the end of a long error, because its last fields name the routine that raised it. */
const errorTailBytes = 256;
/** Memory for longer rows is reserved. */
const longBytes = 64 * 1024;

const readers = new WeakMap<DriverConnection, MessageReader>();

/** The reader of one connection. */
export class MessageReader {
  readonly #stream: DriverStream;
  readonly #forward: (messages: Buffer) => void;
  readonly #maxBytes: number;
  /** The buffered part of an incomplete message or header; null: none. */
  #part: Buffer | null = null;
  #partBytes = 0;
  /** Number of bytes of it that come before the dropped ones. */
  #headBytes = 0;
  /** Bytes of the message still to be dropped. */
  #droppedBytes = 0;
  /** The flight that the server is answering; null: all messages go to the driver. */
  receiver: MessageReceiver | null = null;

  private constructor(stream: DriverStream, forward: (messages: Buffer) => void, maxBytes: number) {
    this.#stream = stream;
    this.#forward = forward;
    this.#maxBytes = maxBytes;
  }

  /** The reader of an open connection. The first call sets its limit and puts it in front of the driver. */
  static of(connection: DriverConnection, maxBytes: number = defaultMessageBytes): MessageReader {
    const known = readers.get(connection);
    if (known !== undefined) return known;
    const { stream } = connection;
    const [listener, ...others] = stream.listeners('data');
    invariant(listener !== undefined && others.length === 0, 'the driver alone reads its socket');
    const reader = new MessageReader(stream, listener.bind(stream), maxBytes);
    stream.off('data', listener);
    if (!takeDirectly(stream, (room, length) => reader.read(room, length))) {
      stream.on('data', (bytes) => reader.read(bytes, bytes.length));
    }
    readers.set(connection, reader);
    return reader;
  }

  /** Takes `length` bytes from the start of the buffer. */
  read(bytes: Buffer, length: number): void {
    try {
      this.#read(bytes, length);
      this.receiver?.handleEndOfRead();
    } catch (problem) {
      // An uncaught error would end the process.
      this.#stream.destroy(problem as Error);
    }
  }

  #read(bytes: Buffer, length: number): void {
    let at = this.#continue(bytes, 0, length);
    while (at + headerBytes <= length) {
      const wholeBytes = 1 + bytes.readUInt32BE(at + 1);
      const end = at + wholeBytes;
      const isShort = wholeBytes <= maxErrorBytes || (bytes[at] === dataRow && wholeBytes <= this.#maxBytes);
      if (isShort && end <= length) {
        this.#message(bytes, at, end);
        at = end;
      } else {
        this.#begin(bytes[at] as number, wholeBytes);
        at = this.#continue(bytes, at, length);
      }
    }
    if (at === length) return;
    this.#part = Buffer.allocUnsafe(headerBytes);
    this.#headBytes = headerBytes;
    this.#continue(bytes, at, length);
  }

  /** Allocates the buffer for a message. */
  #begin(code: number, wholeBytes: number): void {
    const isText = code === errorResponse;
    const isTooLong =
      wholeBytes > (isText || code === noticeResponse ? maxErrorBytes : this.#maxBytes) ||
      (code === dataRow && wholeBytes > longBytes && this.receiver?.handleLongRow(wholeBytes) === false);
    const keptBytes = !isTooLong ? wholeBytes : isText ? maxErrorBytes : headerBytes;
    this.#part = Buffer.allocUnsafeSlow(keptBytes);
    this.#partBytes = 0;
    this.#headBytes = isTooLong && isText ? maxErrorBytes - errorTailBytes : keptBytes;
    this.#droppedBytes = wholeBytes - keptBytes;
  }

  /** Continues a partial message; returns the offset of the next one. */
  #continue(bytes: Buffer, start: number, length: number): number {
    let at = start;
    while (at < length) {
      const part = this.#part;
      const isHead = this.#partBytes < this.#headBytes;
      if (part !== null && (isHead || this.#droppedBytes === 0)) {
        const most = (isHead ? this.#headBytes : part.length) - this.#partBytes;
        const copied = bytes.copy(part, this.#partBytes, at, Math.min(length, at + most));
        this.#partBytes += copied;
        at += copied;
        if (this.#partBytes === part.length) this.#takePart(part);
      } else if (this.#droppedBytes > 0) {
        const dropped = Math.min(this.#droppedBytes, length - at);
        this.#droppedBytes -= dropped;
        at += dropped;
      } else break;
    }
    return at;
  }

  #takePart(part: Buffer): void {
    const wholeBytes = 1 + part.readUInt32BE(1);
    if (part.length === headerBytes && wholeBytes > headerBytes && this.#droppedBytes === 0) {
      this.#begin(part[0] as number, wholeBytes);
      this.#partBytes = part.copy(this.#part as Buffer);
      if (this.#partBytes < (this.#part as Buffer).length) return;
    }
    this.#part = null;
    this.#partBytes = 0;
    if (this.#droppedBytes > 0) this.#cut(part);
    else if (part.length < wholeBytes) this.#forward(joinText(part));
    else this.#message(part, 0, part.length);
  }

  /** Handles the start of a message too long to buffer. */
  #cut(part: Buffer): void {
    switch (part[0]) {
      case noticeResponse:
      case parameterStatus:
      // Settings that long, and copies, are never requested.
      case copyData:
        return;
    }
    if (part[0] === dataRow && this.receiver?.handleLargeRow()) return;
    const primary = `The database sent a message of more than ${this.#maxBytes} bytes.`;
    this.#stream.destroy(new DatabaseError({ kind: 'too_large', step: 1, primary }));
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
          receiver.handleComplete(bytes, end);
          return;
        case parseComplete:
        case bindComplete:
        case closeComplete:
          return;
        case noticeResponse:
          receiver.handleNotice();
          return;
      }
    }
    this.#forward(bytes.subarray(at, end));
  }
}

/**
 * The first fields of an error, code byte and text each, the last text shortened, and those that are whole at its end,
 * as one message.
 */
function joinText(part: Buffer): Buffer {
  const head = endText(part.subarray(0, maxErrorBytes - errorTailBytes));
  const end = part.subarray(maxErrorBytes - errorTailBytes);
  const joined = Buffer.concat([head.subarray(0, -1), end.subarray(end.indexOf(0) + 1)]);
  joined.writeUInt32BE(joined.length - 1, 1);
  return joined;
}

function endText(part: Buffer): Buffer {
  const last = part.length - 1;
  let start = headerBytes;
  for (let next = part.indexOf(0, start); next !== -1 && next < last; next = part.indexOf(0, start)) start = next + 1;
  let end = last - 1;
  // Do not cut within a character.
  while (end > start && ((part[end] as number) & 0xc0) === 0x80) end -= 1;
  const length = end > start ? end + 2 : start + 1;
  part.fill(0, Math.max(start, end));
  part.writeUInt32BE(length - 1, 1);
  return part.subarray(0, length);
}
