/**
 * Long text that is kept small: in pieces of UTF-8, each compressed by itself. The introspection of ten thousand tables is 127 MB,
 * and packed four.
 *
 * A piece is raw deflate data (RFC 1951) that ends with a whole byte and refers to no other piece, so the pieces of several
 * texts stand behind one another as one. With a frame and a checksum around them they are a body that whoever accepts gzip takes as
 * it is kept; for the others one piece at a time is unpacked.
 */
import { constants, crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import { Utf8Text } from '../../shared/utf8-text.ts';

/** A text that may be read again and again; shorter ones are strings. */
export type KeptText = string | PackedText;
/** Part of a body, or all of it. */
export type Text = KeptText | Utf8Text;

interface Piece {
  readonly packed: Buffer;
  /** Length of what was packed. */
  readonly bytes: number;
  /** CRC-32 of what was packed. */
  readonly checksum: number;
}

/** In UTF-8. */
const pieceBytes = 256 * 1024;
/** A piece is no last block, so that another may follow. */
const notLast = { level: 1, finishFlush: constants.Z_SYNC_FLUSH };
/** In one part: many small ones would be copied together. */
const unpacking = { chunkSize: pieceBytes, finishFlush: constants.Z_SYNC_FLUSH };

/** A text of at least one piece. */
export class PackedText {
  readonly pieces: readonly Piece[];
  /** Length of the text in UTF-8. */
  readonly bytes: number;
  readonly #checksum: number;

  /** What stands in the pieces one behind the other. */
  constructor(pieces: readonly Piece[]) {
    this.pieces = pieces;
    this.bytes = pieces.reduce((sum, piece) => sum + piece.bytes, 0);
    this.#checksum = pieces.reduce((sum, piece) => joinChecksums(sum, piece), 0);
  }

  /** Length of what `gzip` gives. */
  get gzipBytes(): number {
    return this.pieces.reduce((sum, { packed }) => sum + packed.length, gzipHead.length + gzipEndBytes);
  }

  /** The text as a gzip file (RFC 1952), in parts. */
  *gzip(): Generator<Buffer> {
    yield gzipHead;
    for (const { packed } of this.pieces) yield packed;
    const end = Buffer.alloc(gzipEndBytes);
    // An empty last block of deflate.
    end[0] = 0x03;
    end.writeUInt32LE(this.#checksum, 2);
    end.writeUInt32LE(this.bytes % 2 ** 32, 6);
    yield end;
  }

  /** The text in UTF-8, in parts, which may end within a character. */
  *utf8(): Generator<Buffer> {
    for (const { packed } of this.pieces) yield inflateRawSync(packed, unpacking);
  }

  /** The text itself, for those few who need all of it at once. */
  toString(): string {
    return Buffer.concat([...this.utf8()], this.bytes).toString();
  }
}

/** Deflate, no flags, no time, compressed fast, no operating system. */
const gzipHead = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255]);
const gzipEndBytes = 10;

/** Takes a text in parts as small as they come, and packs it if it gets long. */
export class TextWriter {
  #parts: string[] = [];
  /** Of the parts, in UTF-16. */
  #length = 0;
  readonly #pieces: Piece[] = [];

  write(part: string): void {
    this.#parts.push(part);
    this.#length += part.length;
    if (this.#length >= pieceBytes) this.#pack();
  }

  end(): KeptText {
    if (this.#pieces.length === 0) return this.#parts.join('');
    this.#pack();
    return new PackedText(this.#pieces);
  }

  #pack(): void {
    this.#pieces.push(...pack(this.#parts.join('')));
    this.#parts = [];
    this.#length = 0;
  }
}

/** Texts one behind the other. */
export function joinTexts(texts: readonly Text[]): Text {
  const at = texts.findIndex((text) => typeof text !== 'string');
  if (at === -1) return texts.join('');
  const first = texts[at];
  const before = texts.slice(0, at);
  const after = texts.slice(at + 1);
  if (first instanceof Utf8Text && after.every((text) => typeof text === 'string')) {
    return first.within(before.join(''), after.join(''));
  }
  if (!texts.some((text) => text instanceof PackedText)) return texts.join('');
  return new PackedText(texts.flatMap((text) => (text instanceof PackedText ? text.pieces : pack(String(text)))));
}

/** Length of a text in UTF-8. */
export function bytesOf(text: Text): number {
  return typeof text === 'string' ? Buffer.byteLength(text) : text.bytes;
}

function pack(text: string): Piece[] {
  const bytes = Buffer.from(text);
  const count = Math.ceil(bytes.length / pieceBytes);
  return Array.from({ length: count }, (_, index) => {
    const piece = bytes.subarray(index * pieceBytes, (index + 1) * pieceBytes);
    // Copied, because what comes is the beginning of a larger room.
    return { packed: Buffer.from(deflateRawSync(piece, notLast)), bytes: piece.length, checksum: crc32(piece) };
  });
}

/** CRC-32 of a text with this checksum and a piece behind it: each byte of the piece shifts the polynomial of the text by eight. */
function joinChecksums(checksum: number, piece: Piece): number {
  return (multiply(checksum, powerOfX(8 * piece.bytes)) ^ piece.checksum) >>> 0;
}

/** The polynomial of CRC-32 without its highest power, and 1 and x: the highest bit is the lowest power. */
const polynomial = 0xedb88320;
const one = 0x80000000;
const x = 0x40000000;

/** The product of two polynomials over the field of two elements, modulo that of CRC-32. */
function multiply(a: number, b: number): number {
  let product = 0;
  let shifted = b;
  for (let bit = one; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= shifted;
    shifted = (shifted >>> 1) ^ ((shifted & 1) === 0 ? 0 : polynomial);
  }
  return product >>> 0;
}

/** By squaring. */
function powerOfX(exponent: number): number {
  let power = one;
  let square = x;
  for (let rest = exponent; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) power = multiply(power, square);
    square = multiply(square, square);
  }
  return power;
}
