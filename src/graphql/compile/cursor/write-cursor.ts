/** Writes a cursor from the columns of a row: what print-cursor.ts has PostgreSQL make, byte for byte. */
import type { AnswerColumn } from '../answer/answer-layout.ts';

/** Where JSON is written. */
interface Writer {
  byte(value: number): void;
  /** Writes a column of the current row. */
  column(column: AnswerColumn): void;
}

const [open, close, comma, space] = [0x5b, 0x5d, 0x2c, 0x20];

/** The array in the format of `jsonb`, before Base64. */
export function writeElements(writer: Writer, columns: readonly AnswerColumn[]): void {
  writer.byte(open);
  columns.forEach((column, position) => {
    if (position > 0) {
      writer.byte(comma);
      writer.byte(space);
    }
    writer.column(column);
  });
  writer.byte(close);
}
