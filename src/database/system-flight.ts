/**
 * One flight of our own statements: several of them in one write, answered by one read, with all their rows.
 *
 *     Close 'old'                      names over the ceiling, see prepared-statements.ts
 *     Parse 'a' … Bind, Describe, Execute       for each statement; Parse only where the connection does not know the name
 *     Sync                             ends the implicit transaction, where no statement has begun or ended one
 *
 * After an error the server skips the rest up to the Sync: what follows `begin` in a flight never runs without it. The driver
 * would make a flight of each statement, and of each flight several writes.
 */
import pg from 'pg';
import { type DriverConnection, onceSettled } from './driver.ts';
import { MessageWriter } from './message-writer.ts';
import { type NameChanges, noChanges, type PreparedStatements } from './prepared-statements.ts';

/** Rows by column name, with the driver's usual types. */
export type Rows = readonly Record<string, unknown>[];

/** One statement. */
export interface SystemStep {
  /** Empty: not prepared. */
  readonly name: string;
  readonly text: string;
  readonly values: readonly (string | null)[];
}

/** How a flight ended. */
export type SystemOutcome =
  | { readonly kind: 'done'; readonly results: readonly Rows[] }
  /** Results of the statements before the one that failed. `lost`: the connection cannot be used any more. */
  | { readonly kind: 'failed'; readonly results: readonly Rows[]; readonly problem: unknown; readonly lost: boolean };

const writer = new MessageWriter();

interface Column {
  readonly name: string;
  readonly parse: (text: string) => unknown;
}

/** A query object of the driver; see flight.ts. */
export class SystemFlight {
  /** Settles when the server is ready for the next flight, or when the connection is gone; never rejects. */
  readonly outcome: Promise<SystemOutcome>;
  readonly #prepared: PreparedStatements;
  readonly #steps: readonly SystemStep[];
  readonly #results: Rows[] = [];
  #names: NameChanges = noChanges;
  #resolve: (outcome: SystemOutcome) => void = () => {};
  #columns: readonly Column[] = [];
  #rows: Record<string, unknown>[] = [];
  #failing = false;

  constructor(prepared: PreparedStatements, steps: readonly SystemStep[]) {
    this.#prepared = prepared;
    this.#steps = steps;
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** Sends everything in one write. */
  submit({ stream }: DriverConnection): void {
    try {
      this.#names = this.#prepared.begin(this.#steps);
      for (const name of this.#names.closed) writer.close(name);
      for (const step of this.#steps) this.#write(step);
      const messages = writer.sync().take();
      // The driver tells of a closed socket by itself.
      if (stream.writable) stream.write(messages);
    } catch (problem) {
      // Half a flight must never reach the server as a whole one.
      writer.clear();
      stream.destroy(problem as Error);
    }
  }

  #write({ name, text, values }: SystemStep): void {
    const preparation = name === '' ? 'parse' : this.#prepared.use(this.#names, name);
    if (preparation === 'close_and_parse') writer.close(name);
    if (preparation !== 'none') writer.parse(name, text);
    writer.runDescribed(name, values);
  }

  /** RowDescription: what the rows that follow are made of. A statement without rows has none. */
  handleRowDescription({ fields }: { readonly fields: readonly { name: string; dataTypeID: number }[] }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({ name, parse: pg.types.getTypeParser(dataTypeID, 'text') }));
  }

  /** DataRow: one for each row. */
  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const row: Record<string, unknown> = {};
    for (let at = 0; at < this.#columns.length; at += 1) {
      const { name, parse } = this.#columns[at] as Column;
      const text = fields[at] ?? null;
      row[name] = text === null ? null : parse(text);
    }
    this.#rows.push(row);
  }

  /** CommandComplete: one statement is done. */
  handleCommandComplete(): void {
    this.#results.push(this.#rows);
    this.#rows = [];
    this.#columns = [];
  }

  /** EmptyQueryResponse takes the place of CommandComplete for an empty text. */
  handleEmptyQuery(): void {
    this.handleCommandComplete();
  }

  /** ReadyForQuery without an error before. Never called after `handleError`. */
  handleReadyForQuery(): void {
    this.#prepared.succeed(this.#names);
    this.#resolve({ kind: 'done', results: this.#results });
  }

  /** ErrorResponse, or an error of the socket. */
  handleError(problem: unknown, connection: DriverConnection): void {
    if (this.#failing) return;
    this.#failing = true;
    this.#prepared.fail(this.#names);
    const fail = (lost: boolean) => this.#resolve({ kind: 'failed', results: this.#results, problem, lost });
    if (problem instanceof pg.DatabaseError) onceSettled(connection, fail);
    else fail(true);
  }

  /** As in flight.ts: refused, with a Sync of its own, because copy mode has thrown ours away. */
  handleCopyInResponse(connection: DriverConnection): void {
    connection.sendCopyFail('data cannot be copied here');
    connection.sync();
  }

  /** CopyData of a `copy … to stdout`: dropped. */
  handleCopyData(): void {}
  /** PortalSuspended comes only with a row limit, which is never sent. */
  handlePortalSuspended(): void {}
}
