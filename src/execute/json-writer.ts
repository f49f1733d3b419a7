/**
 * Writes the JSON of rows as bytes: columns arrive as the text that PostgreSQL prints, in UTF-8, and leave as `to_json` would
 * make them.
 */
import type { AnswerColumn, ColumnForm, RowPiece } from '../compile/answer-layout.ts';

/** A piece of a row, its constants as bytes. */
export type RowPart = { readonly kind: 'constant'; readonly bytes: Buffer } | Exclude<RowPiece, string>;

/** Where the columns of the row at hand begin, and their lengths; -1 for SQL null. PostgreSQL sends 1,664 at most. */
const starts = new Int32Array(1664);
const lengths = new Int32Array(1664);

/** Finds the columns of a row, up to this number, for what is written next. */
export function readColumns(bytes: Buffer, at: number, count: number): void {
  let next = at;
  for (let index = 0; index < count; index += 1) {
    const length = (bytes[next]! << 24) | (bytes[next + 1]! << 16) | (bytes[next + 2]! << 8) | bytes[next + 3]!;
    starts[index] = next + 4;
    lengths[index] = length;
    next += length < 0 ? 4 : 4 + length;
  }
}

/** Whether a column of the row at hand is SQL null. */
export function isNull(index: number): boolean {
  return lengths[index]! < 0;
}

const quote = 0x22;
const backslash = 0x5c;
const nine = 0x39;
/** From here on the processor copies faster than we do. */
const minCopiedBytes = 48;

const nullText = Buffer.from('null');
const trueText = Buffer.from('true');
const falseText = Buffer.from('false');
const separator = Buffer.from(', ');

/** PostgreSQL's escapes, by byte. */
const escapes: readonly Buffer[] = Array.from({ length: 0x5d }, (_, code) =>
  Buffer.from(JSON.stringify(String.fromCharCode(code)).slice(1, -1)),
);

/** Buffers of answers that are finished: large ones are dear to make and to collect. */
const rooms: Buffer[] = [];
const maxRooms = 8;
/** Most bytes to begin with. */
export const maxRoomBytes = 1024 * 1024;
const noRoom = Buffer.alloc(0);

function takeRoom(bytes: number): Buffer {
  const room = rooms.pop();
  return room !== undefined && room.length >= bytes ? room : Buffer.allocUnsafeSlow(Math.max(bytes, 4096));
}

function keepRoom(room: Buffer): void {
  if (rooms.length < maxRooms && room.length <= 2 * maxRoomBytes) rooms.push(room);
}

/** Bytes of JSON in a buffer that grows. */
export class JsonWriter {
  #out: Buffer;
  length = 0;

  constructor(expectedBytes: number) {
    this.#out = takeRoom(expectedBytes);
  }

  /** Gives the room to the next answer. What was written has been read. */
  close(): void {
    keepRoom(this.#out);
    this.#out = noRoom;
    this.length = 0;
  }

  text(start: number, end = this.length): string {
    return this.#out.toString('utf8', start, end);
  }

  /** What was written, in a room that is the taker's until its release; another one begins. */
  take(nextBytes: number): { readonly part: Buffer; readonly release: () => void } {
    const room = this.#out;
    const part = room.subarray(0, this.length);
    this.#out = takeRoom(nextBytes);
    this.length = 0;
    return { part, release: () => keepRoom(room) };
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#out[this.length++] = value;
  }

  /** A row whose columns have been read. */
  row(pieces: readonly RowPart[], bytes: Buffer): void {
    for (const piece of pieces) {
      if (piece.kind === 'column') this.#column(piece.form, piece.index, bytes);
      else if (piece.kind === 'constant') this.#constant(piece.bytes);
      else this.#cursor(piece.columns, bytes);
    }
  }

  #column(form: ColumnForm, index: number, bytes: Buffer): void {
    const start = starts[index]!;
    const length = lengths[index]!;
    if (length < 0) this.#constant(nullText);
    else if (form === 'json') this.#copy(bytes, start, length);
    else if (form === 'text') this.#escaped(bytes, start, length);
    else if (form === 'boolean') this.#constant(bytes[start] === 0x74 ? trueText : falseText);
    // `NaN` and the infinities end with a letter.
    else if (form === 'number' && bytes[start + length - 1]! <= nine) this.#copy(bytes, start, length);
    else this.#quoted(bytes, start, length);
  }

  /** Base64 of the array as `jsonb` prints it (graphql.md 6.2). */
  #cursor(columns: readonly AnswerColumn[], bytes: Buffer): void {
    const start = this.length;
    this.byte(0x5b);
    columns.forEach(({ form, index }, position) => {
      if (position > 0) this.#constant(separator);
      this.#column(form, index, bytes);
    });
    this.byte(0x5d);
    const encoded = this.#out.toString('base64', start, this.length);
    this.length = start;
    this.#reserve(encoded.length + 2);
    this.#out[this.length++] = quote;
    this.length += this.#out.write(encoded, this.length, 'latin1');
    this.#out[this.length++] = quote;
  }

  #constant(bytes: Buffer): void {
    this.#copy(bytes, 0, bytes.length);
  }

  #quoted(bytes: Buffer, start: number, length: number): void {
    this.byte(quote);
    this.#copy(bytes, start, length);
    this.byte(quote);
  }

  #copy(bytes: Buffer, start: number, length: number): void {
    this.#reserve(length);
    const out = this.#out;
    let at = this.length;
    this.length += length;
    const end = start + length;
    if (length >= minCopiedBytes) bytes.copy(out, at, start, end);
    else for (let from = start; from < end; from += 1) out[at++] = bytes[from]!;
  }

  #escaped(bytes: Buffer, start: number, length: number): void {
    // The longest escape has six bytes.
    this.#reserve(6 * length + 2);
    const out = this.#out;
    let at = this.length;
    out[at++] = quote;
    const end = start + length;
    for (let from = start; from < end; from += 1) {
      const byte = bytes[from]!;
      if (byte >= 0x20 && byte !== quote && byte !== backslash) out[at++] = byte;
      else {
        const escaped = escapes[byte]!;
        for (let index = 0; index < escaped.length; index += 1) out[at++] = escaped[index]!;
      }
    }
    out[at++] = quote;
    this.length = at;
  }

  #reserve(bytes: number): void {
    const needed = this.length + bytes;
    if (needed <= this.#out.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#out.length));
    this.#out.copy(larger, 0, 0, this.length);
    this.#out = larger;
  }
}
