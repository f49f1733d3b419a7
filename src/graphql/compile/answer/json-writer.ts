/** Writes the JSON of rows as bytes: columns arrive as text in UTF-8 and become the JSON that `to_json` makes. */
import { writeElements } from '../cursor/write-cursor.ts';
import type { AnswerColumn, RowPiece } from './answer-layout.ts';

/** A piece of a row, with constants as bytes. */
export type RowPart = { readonly kind: 'constant'; readonly bytes: DataView } | Exclude<RowPiece, string>;

// Reads and writes four bytes at a time, twice as fast as single bytes; only a `DataView` allows any offset. The byte
// order does not matter if it is the same everywhere.
const word = 4;

/** Offsets and lengths of the current row's columns; -1 for SQL null. PostgreSQL allows 1,664 columns at most. */
const starts = new Int32Array(1664);
const lengths = new Int32Array(1664);
const nothing: Buffer = Buffer.alloc(0);
/** The bytes of the current row. */
let rowBytes = nothing;
let rowView = viewOf(nothing);

/** A view for reading the bytes as words. */
export function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** Finds that many columns of a row, for the following writes. Returns the end of the last one. */
export function readColumns(bytes: Buffer, at: number, count: number): number {
  if (bytes !== rowBytes) {
    rowBytes = bytes;
    rowView = viewOf(bytes);
  }
  const view = rowView;
  let next = at;
  for (let index = 0; index < count; index += 1) {
    const length = view.getInt32(next);
    starts[index] = next + 4;
    lengths[index] = length;
    next += length < 0 ? 4 : 4 + length;
  }
  return next;
}

/** Whether a column of the current row is SQL null. */
export function isNull(index: number): boolean {
  return lengths[index]! < 0;
}

const quote = 0x22;
const backslash = 0x5c;
const nine = 0x39;
/** From this length on, a native copy is faster than ours. */
const minCopiedBytes = 192;

const nullText = viewOf(Buffer.from('null'));
const trueText = viewOf(Buffer.from('true'));
const falseText = viewOf(Buffer.from('false'));

/** PostgreSQL's escapes, by byte. */
const escapes: readonly Buffer[] = Array.from({ length: 0x5d }, (_, code) =>
  Buffer.from(JSON.stringify(String.fromCharCode(code)).slice(1, -1)),
);

/** Whether one of a word's four bytes needs an escape: below a space, a quote or a backslash. */
function needsEscape(bytes: number): boolean {
  const quotes = bytes ^ 0x22222222;
  const backslashes = bytes ^ 0x5c5c5c5c;
  // A byte's highest bit is set if the subtraction borrowed and it was not set before.
  const below = (bytes - 0x20202020) & ~bytes;
  const zero = ((quotes - 0x01010101) & ~quotes) | ((backslashes - 0x01010101) & ~backslashes);
  return ((below | zero) & 0x80808080) !== 0;
}

interface PooledBuffer {
  readonly bytes: Buffer;
  readonly view: DataView;
}

/** Buffers of finished answers: large ones are expensive to allocate and collect. */
const buffers: PooledBuffer[] = [];
const maxBuffers = 8;
/** Largest initial size in bytes. */
export const maxInitialBytes = 1024 * 1024;
const noBuffer = allocate(0);
/** A text may reserve this much more than it needs. */
const spareBytes = 64;

/** The text would exceed the limit of its writer: one column may be a thousand fields of a row. */
export class TextTooLong extends Error {
  override readonly name = 'TextTooLong';
}

function allocate(length: number): PooledBuffer {
  const bytes = Buffer.allocUnsafeSlow(length);
  return { bytes, view: viewOf(bytes) };
}

function acquireBuffer(length: number): PooledBuffer {
  const buffer = buffers.pop();
  return buffer !== undefined && buffer.bytes.length >= length ? buffer : allocate(Math.max(length, 4096));
}

function releaseBuffer(buffer: PooledBuffer): void {
  if (buffer !== noBuffer && buffers.length < maxBuffers && buffer.bytes.length <= 2 * maxInitialBytes)
    buffers.push(buffer);
}

/** Bytes of JSON in a buffer that grows. */
export class JsonWriter {
  /** Acquired at the first write: while the database works on many answers, they need no buffers. */
  #buffer = noBuffer;
  #out = noBuffer.view;
  #capacity = 0;
  readonly #expectedBytes: number;
  readonly #maxBytes: number;
  length = 0;

  /** @param maxBytes The text never takes more memory than this, by little. */
  constructor(expectedBytes: number, maxBytes: number) {
    this.#expectedBytes = expectedBytes;
    this.#maxBytes = maxBytes + spareBytes;
  }

  /** Returns the buffer for reuse. Its content must have been read. */
  close(): void {
    releaseBuffer(this.#buffer);
    this.#forget();
  }

  text(start: number, end = this.length): string {
    return this.#buffer.bytes.toString('utf8', start, end);
  }

  /** Instead of `close`: the content in a buffer that the caller owns until `release`. */
  take(): { readonly part: Buffer; readonly release: () => void } {
    const buffer = this.#buffer;
    const part = buffer.bytes.subarray(0, this.length);
    this.#forget();
    return { part, release: () => releaseBuffer(buffer) };
  }

  #forget(): void {
    this.#move(noBuffer);
    this.length = 0;
    rowBytes = nothing;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#out.setUint8(this.length++, value);
  }

  /** Writes the current row. @throws TextTooLong */
  row(pieces: readonly RowPart[]): void {
    for (const piece of pieces) {
      if (piece.kind === 'column') this.column(piece);
      else if (piece.kind === 'constant') this.#constant(piece.bytes);
      else this.#cursor(piece.columns);
    }
  }

  /** Writes a column of the current row. @throws TextTooLong */
  column({ form, index }: AnswerColumn): void {
    const start = starts[index]!;
    const length = lengths[index]!;
    if (length < 0) this.#constant(nullText);
    else if (form === 'json') this.#copy(rowView, start, length);
    else if (form === 'text') this.#escaped(start, length);
    else if (form === 'boolean') this.#constant(rowView.getUint8(start) === 0x74 ? trueText : falseText);
    // `NaN` and infinities end with a letter and get quotes.
    else if (form === 'number' && rowView.getUint8(start + length - 1) <= nine) this.#copy(rowView, start, length);
    else this.#quoted(start, length);
  }

  /** As Base64. */
  #cursor(columns: readonly AnswerColumn[]): void {
    const start = this.length;
    writeElements(this, columns);
    const encoded = this.#buffer.bytes.toString('base64', start, this.length);
    this.length = start;
    this.#reserve(encoded.length + 2);
    this.byte(quote);
    this.length += this.#buffer.bytes.write(encoded, this.length, 'latin1');
    this.byte(quote);
  }

  #constant(bytes: DataView): void {
    this.#copy(bytes, 0, bytes.byteLength);
  }

  #quoted(start: number, length: number): void {
    this.byte(quote);
    this.#copy(rowView, start, length);
    this.byte(quote);
  }

  #copy(source: DataView, start: number, length: number): void {
    this.#reserve(length);
    const out = this.#out;
    const at = this.length;
    this.length += length;
    if (length >= minCopiedBytes) {
      this.#buffer.bytes.set(new Uint8Array(source.buffer, source.byteOffset + start, length), at);
    } else if (length >= word) {
      const last = length - word;
      for (let index = 0; index < last; index += word) {
        out.setInt32(at + index, source.getInt32(start + index, true), true);
      }
      // The last word overlaps the one before unless the length is a multiple of four.
      out.setInt32(at + last, source.getInt32(start + last, true), true);
    } else for (let index = 0; index < length; index += 1) out.setUint8(at + index, source.getUint8(start + index));
  }

  #escaped(start: number, length: number): void {
    const end = start + length;
    this.byte(quote);
    let from = start;
    while (from < end) {
      from = this.#plainWords(from, end);
      const stop = Math.min(from + word, end);
      this.#escapedBytes(from, stop);
      from = stop;
    }
    this.byte(quote);
  }

  /** Copies words up to the first that needs an escape, and returns its offset. */
  #plainWords(start: number, end: number): number {
    this.#reserve(end - start);
    const out = this.#out;
    let at = this.length;
    let from = start;
    for (; from <= end - word; from += word, at += word) {
      const bytes = rowView.getInt32(from, true);
      if (needsEscape(bytes)) break;
      out.setInt32(at, bytes, true);
    }
    this.length = at;
    return from;
  }

  #escapedBytes(start: number, end: number): void {
    // The longest escape has six bytes.
    this.#reserve(6 * (end - start));
    const out = this.#out;
    let at = this.length;
    for (let from = start; from < end; from += 1) {
      const byte = rowView.getUint8(from);
      if (byte >= 0x20 && byte !== quote && byte !== backslash) out.setUint8(at++, byte);
      else {
        const escaped = escapes[byte]!;
        for (let index = 0; index < escaped.length; index += 1) out.setUint8(at++, escaped[index]!);
      }
    }
    this.length = at;
  }

  #reserve(bytes: number): void {
    const needed = this.length + bytes;
    if (needed > this.#capacity) this.#grow(needed);
  }

  #grow(needed: number): void {
    if (needed > this.#maxBytes) throw new TextTooLong();
    const isFirst = this.#buffer === noBuffer;
    const larger = isFirst
      ? acquireBuffer(Math.max(needed, this.#expectedBytes))
      : allocate(Math.max(needed, Math.min(2 * this.#capacity, this.#maxBytes)));
    this.#buffer.bytes.copy(larger.bytes, 0, 0, this.length);
    this.#move(larger);
  }

  #move(buffer: PooledBuffer): void {
    this.#buffer = buffer;
    this.#out = buffer.view;
    this.#capacity = buffer.bytes.length;
  }
}
