/** Rows of system statements as objects, with the driver's usual types. */
import pg from 'pg';
import type { OutputColumn, RowCollector } from '../wire/flight.ts';

/** Rows by column name. */
export type Rows = readonly Record<string, unknown>[];

/** Collects the rows of one statement. */
export class ObjectRows implements RowCollector {
  readonly #onEnd: (rows: Rows) => void;
  readonly #rows: Record<string, unknown>[] = [];
  #columns: readonly { readonly name: string; readonly parse: (text: string) => unknown }[] = [];

  /** @param onEnd Called after the last row, if the statement succeeded. */
  constructor(onEnd: (rows: Rows) => void) {
    this.#onEnd = onEnd;
  }

  describe(columns: readonly OutputColumn[]): void {
    this.#columns = columns.map(({ name, dataTypeID }) => ({
      name,
      parse: pg.types.getTypeParser(dataTypeID, 'text'),
    }));
  }

  add(bytes: Buffer, start: number): void {
    const row: Record<string, unknown> = {};
    let at = start;
    for (const { name, parse } of this.#columns) {
      const length = bytes.readInt32BE(at);
      at += 4;
      row[name] = length < 0 ? null : parse(bytes.toString('utf8', at, at + length));
      if (length > 0) at += length;
    }
    this.#rows.push(row);
  }

  finish(): null {
    this.#onEnd(this.#rows);
    return null;
  }
}
