/**
 * Makes the JSON text of an answer from the rows of a statement, by its layout (graphql/compile/answer/answer-layout.ts).
 *
 * Bytes in, bytes out: columns arrive as PostgreSQL's text in UTF-8. Most is JSON already or only needs quotes; nothing
 * is converted to a JavaScript string, number or date. The result equals that of `to_json` byte for byte.
 */
import type { AnswerMemory } from '../../../postgres/wire/answer-memory.ts';
import type { FlightResult, RowCollector } from '../../../postgres/wire/flight.ts';
import { unreachable } from '../../../shared/invariant.ts';
import { keepBytes } from '../../../shared/keep-bytes.ts';
import { Utf8Text } from '../../../shared/utf8-text.ts';
import type { AnswerColumn, AnswerLayout, AnswerPiece, RowPiece } from '../../compile/answer/answer-layout.ts';
import {
  isNull,
  JsonWriter,
  maxInitialBytes,
  type RowPart,
  readColumns,
  TextTooLong,
  viewOf,
} from '../../compile/answer/json-writer.ts';
import { utf8Bytes } from './compressed-text.ts';

/** The context of one answer. */
export interface AnswerContext {
  /** Further rows are not on the page; null: no limit. */
  readonly limit: number | null;
  /** Limit of the finished texts of all statements together, in bytes. */
  readonly maxBytes: number;
  /** Drop a result over the limit instead of cancelling: a mutation is never undone for the size of its answer. */
  readonly isMutation: boolean;
  readonly memory: AnswerMemory;
}

interface ReceivedRow {
  readonly bytes: Buffer;
  readonly at: number;
  /** Its bytes are a copy of its own. */
  readonly isKept: boolean;
}

/** A prepared layout, cached. */
interface Prepared {
  readonly row: readonly RowPart[];
  /** Index of the piece with the rows, and the constants before it; null if others precede it, or rows are reversed. */
  readonly rowsAt: number;
  readonly beforeRows: string | null;
  /** Some pieces are made of the first or last row, after all rows have arrived. */
  readonly rereads: boolean;
  /** Number of columns up to the last used one. */
  readonly columns: number;
  /** Size of the last answer, approximately. */
  expectedBytes: number;
}

const prepared = new WeakMap<AnswerLayout, Prepared>();

/** Rows of this many bytes stay bytes; a shorter text is sent with its headers in one write. */
const minUtf8Bytes = 8 * 1024;

const rereadKinds: ReadonlySet<string> = new Set(['column', 'of_first', 'cursor']);

const comma = 0x2c;

/** Collects the rows of one statement and makes their text. */
export class RowsAnswer implements RowCollector {
  readonly #layout: AnswerLayout;
  readonly #context: AnswerContext;
  readonly #prepared: Prepared;
  readonly #writer: JsonWriter;
  /** Offsets of the rows of a page that comes in reverse. */
  readonly #starts: number[] = [];
  #count = 0;
  #total = 0;
  #first: ReceivedRow | null = null;
  #last: ReceivedRow | null = null;
  #isOver = false;
  /** The size of the buffer that memory is reserved for. */
  #heldBytes = maxInitialBytes;

  constructor(layout: AnswerLayout, context: AnswerContext) {
    this.#layout = layout;
    this.#context = context;
    this.#prepared = prepare(layout);
    this.#writer = new JsonWriter(this.#prepared.expectedBytes, context.maxBytes);
  }

  get isTooLarge(): boolean {
    return this.#isOver;
  }

  add(bytes: Buffer, at: number): void {
    if (this.#isOver || this.#context.memory.isOver) return;
    const { rowPresence, backward } = this.#layout;
    const { limit } = this.#context;
    const writer = this.#writer;
    readColumns(bytes, at, this.#prepared.columns);
    this.#first ??= { bytes, at, isKept: false };
    if (rowPresence !== null && isNull(rowPresence)) return;
    this.#count += 1;
    if (limit !== null && this.#count > limit) return;
    if (backward) this.#starts.push(writer.length);
    else if (this.#last !== null) writer.byte(comma);
    if (!this.#write(this.#prepared.row)) return;
    this.#last = { bytes, at, isKept: false };
    if (writer.length > this.#roomBytes || !this.#hold()) this.#overflow();
  }

  addLarge(): void {
    if (this.#isOver || this.#context.memory.isOver) return;
    const { limit } = this.#context;
    this.#count += 1;
    if (limit === null || this.#count <= limit) this.#overflow();
  }

  keep(): void {
    if (!this.#prepared.rereads) return;
    this.#first = this.#keptRow(this.#first);
    this.#last = this.#keptRow(this.#last);
  }

  setTotal(rows: number): void {
    this.#total = rows;
  }

  /** Before the buffer doubles, which takes the old one and the new one. False: there is no memory for the client. */
  #hold(): boolean {
    const { maxBytes, memory } = this.#context;
    if (4 * this.#writer.length < 3 * this.#heldBytes || this.#heldBytes >= maxBytes) return true;
    this.#heldBytes *= 2;
    return memory.hold(1.5 * Math.min(this.#heldBytes, maxBytes));
  }

  /** How many bytes the writer may hold. */
  get #roomBytes(): number {
    return this.#context.maxBytes - this.#context.memory.bytes;
  }

  /** False: the result is over the limit. */
  #write(pieces: readonly RowPart[]): boolean {
    try {
      this.#writer.row(pieces);
    } catch (error) {
      if (!(error instanceof TextTooLong)) throw error;
      this.#overflow();
    }
    return !this.#isOver;
  }

  #keptRow(row: ReceivedRow | null): ReceivedRow | null {
    if (row === null || row.isKept) return row;
    const end = readColumns(row.bytes, row.at, this.#prepared.columns);
    return { bytes: Buffer.from(row.bytes.subarray(row.at, end)), at: 0, isKept: true };
  }

  finish(): FlightResult {
    if (this.#isOver || this.#context.memory.isOver) return '';
    this.#prepared.expectedBytes = Math.min(maxInitialBytes, this.#writer.length + 64);
    const text = this.#text();
    const bytes = utf8Bytes(text);
    if (bytes > this.#roomBytes) this.#overflow();
    this.#context.memory.bytes += bytes;
    return text;
  }

  #text(): FlightResult {
    const { beforeRows, rowsAt } = this.#prepared;
    if (beforeRows !== null && this.#writer.length >= minUtf8Bytes) {
      const after = this.#joined(rowsAt + 1);
      const { part, release } = this.#writer.take();
      return new Utf8Text(beforeRows, part, after, release);
    }
    const text = this.#joined(0);
    this.#writer.close();
    return text;
  }

  /** The pieces of the answer from this index on. */
  #joined(start: number): string {
    const { pieces } = this.#layout;
    let text = '';
    for (let index = start; index < pieces.length; index += 1) {
      const piece = pieces[index] as AnswerPiece;
      text += typeof piece === 'string' ? piece : this.#pieceText(piece);
    }
    return text;
  }

  #overflow(): void {
    this.#isOver = true;
    this.#writer.close();
    const { isMutation, memory } = this.#context;
    if (isMutation) memory.isOver = true;
    else memory.overflow();
  }

  #pieceText(piece: Exclude<AnswerPiece, string>): string {
    switch (piece.kind) {
      case 'rows':
        return this.#layout.backward ? this.#reversedRows() : this.#writer.text(0);
      case 'row':
        return this.#count === 0 ? 'null' : this.#writer.text(0);
      case 'column':
        return this.#columnText([piece], this.#first);
      case 'count':
        return String(this.#count);
      case 'written':
        return String(this.#total);
      case 'if_written':
        return this.#total === 0 ? 'null' : piece.text;
      case 'has_more':
        return this.#context.limit !== null && this.#count > this.#context.limit ? 'true' : 'false';
      case 'of_first':
        return this.#last === null ? 'false' : this.#columnText([{ index: piece.index, form: 'boolean' }], this.#first);
      case 'cursor': {
        const isFirst = (piece.of === 'start') !== this.#layout.backward;
        const { columns } = piece;
        return this.#last === null
          ? 'null'
          : this.#columnText([{ kind: 'cursor', columns }], isFirst ? this.#first : this.#last);
      }
      default:
        return unreachable(piece);
    }
  }

  #reversedRows(): string {
    const ends = [...this.#starts.slice(1), this.#writer.length];
    return this.#starts
      .map((start, index) => this.#writer.text(start, ends[index]))
      .reverse()
      .join(',');
  }

  // Written after the rows and removed again.
  #columnText(pieces: readonly (AnswerColumn | Exclude<RowPiece, string>)[], row: ReceivedRow | null): string {
    if (row === null) return 'null';
    readColumns(row.bytes, row.at, this.#prepared.columns);
    const start = this.#writer.length;
    const own = pieces.map((piece) => ('form' in piece ? { kind: 'column' as const, ...piece } : piece));
    if (!this.#write(own)) return '';
    const text = this.#writer.text(start);
    this.#writer.length = start;
    return text;
  }
}

function prepare(layout: AnswerLayout): Prepared {
  const known = prepared.get(layout);
  if (known !== undefined) return known;
  const row = layout.pieces.flatMap((piece): readonly RowPiece[] =>
    typeof piece !== 'string' && (piece.kind === 'rows' || piece.kind === 'row') ? piece.row : [],
  );
  const kept = keepBytes(row.map((piece) => Buffer.from(typeof piece === 'string' ? piece : '')));
  const rowsAt = layout.pieces.findIndex((piece) => typeof piece !== 'string' && piece.kind === 'rows');
  const before = layout.pieces.slice(0, Math.max(0, rowsAt));
  const isPlain = rowsAt !== -1 && !layout.backward && before.every((piece) => typeof piece === 'string');
  const made: Prepared = {
    rereads: layout.pieces.some((piece) => typeof piece !== 'string' && rereadKinds.has(piece.kind)),
    rowsAt,
    beforeRows: isPlain ? before.join('') : null,
    row: row.map((piece, index) =>
      typeof piece === 'string' ? { kind: 'constant', bytes: viewOf(kept[index]!) } : piece,
    ),
    columns: 1 + Math.max(layout.rowPresence ?? -1, ...row.map(lastColumn), ...layout.pieces.map(lastColumn)),
    expectedBytes: 256,
  };
  prepared.set(layout, made);
  return made;
}

function lastColumn(piece: AnswerPiece | RowPiece): number {
  if (typeof piece === 'string') return -1;
  if ('index' in piece) return piece.index;
  return 'columns' in piece ? Math.max(-1, ...piece.columns.map(({ index }) => index)) : -1;
}
