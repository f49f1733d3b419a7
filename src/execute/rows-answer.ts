/**
 * Makes the JSON text of an answer from the rows of a statement, by its layout (compile/answer-layout.ts).
 *
 * Bytes in, bytes out: columns arrive as the text that PostgreSQL prints, in UTF-8. Most of it is JSON already or only needs
 * quotes; nothing becomes a JavaScript string, number or date on the way. Byte for byte what `to_json` makes.
 */
import type { AnswerColumn, AnswerLayout, AnswerPiece, ColumnForm, RowPiece } from '../compile/answer-layout.ts';
import type { RowCollector } from '../database/flight.ts';
import type { RowFlow } from '../database/row-flow.ts';
import { unreachable } from '../shared/invariant.ts';
import type { Handing } from './handing.ts';

/** What is known of one answer. */
export interface AnswerContext {
  /** Rows past this number are not on the page; null: all are. */
  readonly limit: number | null;
  /** Of the finished text, in bytes. */
  readonly maxBytes: number;
  readonly flow: RowFlow;
  /** Takes the text in parts, where it is too large to be kept; null: it is kept. */
  readonly handing: Handing | null;
}

/** A row as it came. */
interface Row {
  readonly bytes: Buffer;
  readonly at: number;
}

/** A piece of a row, its constants as bytes. */
type PreparedPiece = { readonly kind: 'constant'; readonly bytes: Buffer } | Exclude<RowPiece, string>;

/** What is made of a layout once. */
interface Prepared {
  readonly row: readonly PreparedPiece[];
  /** Which piece is the rows, and the constants before it; null where that is not all, or the rows come in reverse. */
  readonly rowsAt: number;
  readonly beforeRows: string | null;
  /** Types that the row was found to agree with. */
  readonly agreed: WeakSet<readonly number[]>;
  /** Columns up to the last one that is used. */
  readonly columns: number;
  /** About as many bytes as the last answer had. */
  expectedBytes: number;
}

const prepared = new WeakMap<AnswerLayout, Prepared>();
/** Most bytes to begin with. */
const maxFirstBytes = 1024 * 1024;
/** Texts are handed on from this size, in parts of this size. */
const firstPartBytes = 128 * 1024;
const partBytes = 64 * 1024;

/** The rows of one statement on their way to text. */
export class RowsAnswer implements RowCollector {
  readonly #layout: AnswerLayout;
  readonly #context: AnswerContext;
  readonly #prepared: Prepared;
  #row: readonly PreparedPiece[];
  /** Set where the columns have other types than the layout was made for. */
  #types: readonly number[] | null = null;
  readonly #writer: JsonWriter;
  /** Where each row of a page that comes in reverse begins. */
  readonly #starts: number[] = [];
  #count = 0;
  #first: Row | null = null;
  #last: Row | null = null;
  #isOver = false;
  /** Bytes that have been handed on; 0: none were. */
  #handedBytes = 0;

  constructor(layout: AnswerLayout, context: AnswerContext) {
    this.#layout = layout;
    this.#context = context;
    this.#prepared = prepare(layout);
    this.#row = this.#prepared.row;
    this.#writer = new JsonWriter(this.#prepared.expectedBytes);
  }

  begin(types: readonly number[]): void {
    const { agreed, row } = this.#prepared;
    if (agreed.has(types)) return;
    const adapted = row.map((piece) => adaptPiece(piece, types));
    if (adapted.every((piece, index) => piece === row[index])) agreed.add(types);
    else {
      this.#row = adapted;
      this.#types = types;
    }
  }

  add(bytes: Buffer, at: number): void {
    if (this.#isOver || this.#context.flow.isOver) return;
    const { marker, backward } = this.#layout;
    const writer = this.#writer;
    readColumns(bytes, at, this.#prepared.columns);
    this.#first ??= { bytes, at };
    if (marker !== null && lengths[marker]! < 0) return;
    this.#count += 1;
    if (this.#count - 1 === this.#context.limit) return;
    if (backward) this.#starts.push(writer.length);
    else if (this.#last !== null) writer.byte(comma);
    writer.row(this.#row, bytes);
    this.#last = { bytes, at };
    if (this.#handedBytes + writer.length > this.#context.maxBytes) this.#overflow();
    else if (writer.length >= (this.#handedBytes === 0 ? firstPartBytes : partBytes)) this.#handOn();
  }

  #handOn(): void {
    const { flow, handing } = this.#context;
    const before = this.#prepared.beforeRows;
    if (handing === null || before === null || !flow.canHandOn) return;
    flow.noteHandedOn();
    const start = this.#handedBytes === 0 ? before : '';
    this.#handedBytes += start.length + this.#writer.length;
    const { part, release } = this.#writer.take();
    if (!handing.write(start, part, release)) {
      flow.pause();
      handing.onDrain(() => flow.resume());
    }
  }

  finish(): string {
    if (this.#isOver || this.#context.flow.isOver) return '';
    this.#prepared.expectedBytes = Math.min(maxFirstBytes, this.#writer.length + 64);
    const { pieces } = this.#layout;
    let text = '';
    // What was handed on begins with the constants in front of the rows.
    for (let index = this.#handedBytes === 0 ? 0 : this.#prepared.rowsAt; index < pieces.length; index += 1) {
      const piece = pieces[index] as AnswerPiece;
      text += typeof piece === 'string' ? piece : this.#pieceText(piece);
    }
    if (isLarger(text, this.#context.maxBytes - this.#handedBytes)) this.#overflow();
    this.#writer.close();
    return text;
  }

  #overflow(): void {
    this.#isOver = true;
    this.#context.flow.overflow();
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

  // Written behind the rows and taken away again.
  #columnText(pieces: readonly (AnswerColumn | Exclude<RowPiece, string>)[], row: Row | null): string {
    if (row === null) return 'null';
    readColumns(row.bytes, row.at, this.#prepared.columns);
    const start = this.#writer.length;
    const own = pieces.map((piece) => ('form' in piece ? { kind: 'column' as const, ...piece } : piece));
    const types = this.#types;
    this.#writer.row(types === null ? own : own.map((piece) => adaptPiece(piece, types)), row.bytes);
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
  const rowsAt = layout.pieces.findIndex((piece) => typeof piece !== 'string' && piece.kind === 'rows');
  const before = layout.pieces.slice(0, Math.max(0, rowsAt));
  const isPlain = rowsAt !== -1 && !layout.backward && before.every((piece) => typeof piece === 'string');
  const made: Prepared = {
    rowsAt,
    beforeRows: isPlain ? before.join('') : null,
    row: row.map((piece) => (typeof piece === 'string' ? { kind: 'constant', bytes: Buffer.from(piece) } : piece)),
    columns: 1 + Math.max(layout.marker ?? -1, ...row.map(lastColumn), ...layout.pieces.map(lastColumn)),
    agreed: new WeakSet(),
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

/** Oids of types whose text is JSON, or is where it is a number, or never needs escapes. */
const jsonTypes: ReadonlySet<number> = new Set([20, 21, 23, 114, 3802]);
const numberTypes: ReadonlySet<number> = new Set([700, 701, 1700]);
const unescapedTypes: ReadonlySet<number> = new Set([20, 1083, 1700, 2950]);
const booleanType = 16;

/** The same piece where its columns have a type that their forms are right for; else by the types that they have. */
function adaptPiece(piece: PreparedPiece, types: readonly number[]): PreparedPiece {
  if (piece.kind === 'constant') return piece;
  if (piece.kind === 'column') {
    const form = adaptForm(piece.form, types[piece.index]);
    return form === piece.form ? piece : { ...piece, form };
  }
  const columns = piece.columns.map((column) => ({ ...column, form: adaptForm(column.form, types[column.index]) }));
  return columns.every(({ form }, index) => form === piece.columns[index]?.form) ? piece : { ...piece, columns };
}

/** Until the change of a column is in the model, its values travel as `to_json` would make them. */
function adaptForm(form: ColumnForm, type = 0): ColumnForm {
  const own: ColumnForm =
    type === booleanType ? 'boolean' : jsonTypes.has(type) ? 'json' : numberTypes.has(type) ? 'number' : 'text';
  return form === 'quoted' && unescapedTypes.has(type) ? form : own;
}

/** A character takes three bytes at most, so the bytes of most texts need not be counted. */
function isLarger(text: string, maxBytes: number): boolean {
  return text.length * 3 > maxBytes && (text.length > maxBytes || Buffer.byteLength(text) > maxBytes);
}

/** Where the columns of the row at hand begin, and their lengths; -1 for SQL null. PostgreSQL sends 1,664 at most. */
const starts = new Int32Array(1664);
const lengths = new Int32Array(1664);

function readColumns(bytes: Buffer, at: number, count: number): void {
  let next = at;
  for (let index = 0; index < count; index += 1) {
    const length = (bytes[next]! << 24) | (bytes[next + 1]! << 16) | (bytes[next + 2]! << 8) | bytes[next + 3]!;
    starts[index] = next + 4;
    lengths[index] = length;
    next += length < 0 ? 4 : 4 + length;
  }
}

const quote = 0x22;
const comma = 0x2c;
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
const noRoom = Buffer.alloc(0);

function takeRoom(bytes: number): Buffer {
  const room = rooms.pop();
  return room !== undefined && room.length >= bytes ? room : Buffer.allocUnsafeSlow(Math.max(bytes, 4096));
}

function keepRoom(room: Buffer): void {
  if (rooms.length < maxRooms && room.length <= 2 * maxFirstBytes) rooms.push(room);
}

/** Bytes of JSON in a buffer that grows. */
class JsonWriter {
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
  take(): { readonly part: Buffer; readonly release: () => void } {
    const room = this.#out;
    const part = room.subarray(0, this.length);
    this.#out = takeRoom(firstPartBytes);
    this.length = 0;
    return { part, release: () => keepRoom(room) };
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#out[this.length++] = value;
  }

  /** A row whose columns have been read. */
  row(pieces: readonly PreparedPiece[], bytes: Buffer): void {
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
