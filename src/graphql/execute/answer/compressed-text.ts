/**
 * Texts of answers. A long introspection is compressed while it is written and cached compressed: for ten thousand
 * tables it is 127 MB of text and 5 MB of gzip, which most clients accept.
 */
import { constants, crc32, deflateRawSync, gunzipSync } from 'node:zlib';
import { PublicError } from '../../../shared/errors.ts';
import type { Utf8Text } from '../../../shared/utf8-text.ts';

/** A body, or a part of one unless it is a `CompressedText`. */
export type Text = string | Utf8Text | CompressedText;

/** A text as a gzip file, which may be read repeatedly. */
export class CompressedText {
  readonly gzip: Buffer;
  /** Length of the text in UTF-8. */
  readonly bytes: number;

  constructor(gzip: Buffer, bytes: number) {
    this.gzip = gzip;
    this.bytes = bytes;
  }

  toString(): string {
    return gunzipSync(this.gzip).toString();
  }
}

/** Minimum length of a compressed text, and the approximate length of its pieces, in UTF-16 units. */
const pieceLength = 256 * 1024;
/** A piece must not end with the last block, because another may follow. */
const piece = { level: 1, finishFlush: constants.Z_SYNC_FLUSH };
/** Gzip header (RFC 1952): deflate, no flags, no time, fast compression, unknown operating system. */
export const gzipHead = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255]);

/** The end of a gzip file: an empty last block, then checksum and length of the text. */
export function gzipEnd(checksum: number, bytes: number): Buffer {
  const end = Buffer.alloc(10);
  end[0] = 0x03;
  end.writeUInt32LE(checksum, 2);
  end.writeUInt32LE(bytes % 2 ** 32, 6);
  return end;
}

/** Bytes that an item of a list counts at least: what it describes is looked up, even if nothing of it is written. */
const minItemBytes = 16;

/** Collects a text from small parts, up to a limit. */
export class TextWriter {
  readonly #maxBytes: number;
  #parts: string[] = [];
  #length = 0;
  readonly #pieces: Buffer[] = [gzipHead];
  #bytes = 0;
  #checksum = 0;
  #items = 0;

  /** @param maxBytes Limit of the text in UTF-8. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @throws PublicError `LIMIT_EXCEEDED` */
  write(part: string): void {
    this.#parts.push(part);
    this.#length += part.length;
    if (this.#length >= pieceLength) this.#compress();
  }

  /** Notes an item of a list. @throws PublicError `LIMIT_EXCEEDED` */
  countItem(): void {
    this.#items += 1;
    if (this.#items * minItemBytes > this.#maxBytes) throw textTooLarge(this.#maxBytes);
  }

  /** The whole text; a short one uncompressed. @throws PublicError `LIMIT_EXCEEDED` */
  end(): string | CompressedText {
    if (this.#bytes === 0) {
      const text = this.#parts.join('');
      if (Buffer.byteLength(text) > this.#maxBytes) throw textTooLarge(this.#maxBytes);
      return text;
    }
    this.#compress();
    const end = gzipEnd(this.#checksum, this.#bytes);
    return new CompressedText(Buffer.concat([...this.#pieces, end]), this.#bytes);
  }

  #compress(): void {
    const bytes = Buffer.from(this.#parts.join(''));
    if (this.#bytes + bytes.length > this.#maxBytes) throw textTooLarge(this.#maxBytes);
    this.#pieces.push(deflateRawSync(bytes, piece));
    this.#bytes += bytes.length;
    this.#checksum = crc32(bytes, this.#checksum);
    this.#parts = [];
    this.#length = 0;
  }
}

/** The error for an answer over the limit, of which nothing is sent. */
export function textTooLarge(maxBytes: number): PublicError {
  const message = `The answer is larger than the limit of ${maxBytes} bytes. Ask for less, or page.`;
  return new PublicError('LIMIT_EXCEEDED', message, { extensions: { limit: 'max-response-bytes' } });
}

/** Joins texts; a single one in bytes stays so. */
export function joinTexts(texts: readonly (string | Utf8Text)[]): string | Utf8Text {
  const at = texts.findIndex(isBytes);
  if (at === -1 || texts.findLastIndex(isBytes) > at) return texts.join('');
  return (texts[at] as Utf8Text).within(texts.slice(0, at).join(''), texts.slice(at + 1).join(''));
}

function isBytes(text: string | Utf8Text): text is Utf8Text {
  return typeof text !== 'string';
}

/** Length of a text in UTF-8. */
export function utf8Bytes(text: Text): number {
  return typeof text === 'string' ? Buffer.byteLength(text) : text.bytes;
}
