/**
 * One flight: all statements of one request as one write to the database and one answer from it, in one transaction.
 *
 * The messages, in order (PostgreSQL manual, "Extended Query"):
 *
 *     Close 'old'                    names over the ceiling, see prepared-statements.ts
 *     Parse 'a' … Bind, Execute      hygiene and settings (step 0): sets role, claims, limits for this transaction only
 *     Parse 'b' … Bind, Execute      main step 1, parsed after the settings have run, because looking up names needs the
 *     Bind, Execute                  settings again   role's search path and privileges
 *     Parse 'c' … Bind, Execute      main step 2, which thus runs as the caller, whatever step 1 has called
 *     Sync                           ends the implicit transaction: commits, or undoes all after an error
 *
 * There is no explicit `begin`: messages up to a Sync are one transaction. After an error the server skips the rest, so
 * nothing ever runs without its settings. `Parse` is left out where the connection knows the name, `Close` comes before
 * it where that is uncertain. No Describe: results are text, and only the first column is read. Statements that could
 * end a transaction (`call`, `do`, `commit`) must never be among the steps: the settings would end with it.
 *
 * The driver calls `submit` when the connection is free and then one `handle…` for each message that arrives.
 */
import pg from 'pg';
import { type DriverConnection, onceSettled } from './driver.ts';
import { MessageWriter } from './message-writer.ts';
import type { PreparedStatements } from './prepared-statements.ts';

/** One statement on its way. */
export interface FlightStep {
  /** Empty = unnamed. */
  readonly name: string;
  readonly text: string;
  readonly values: readonly (string | null)[];
  /** Sets the settings again before the step that follows; has no result and no number of its own. */
  readonly isGuard?: true;
  /** Bind and Execute as bytes, for steps that are sent again and again with the same values. */
  readonly messages?: Uint8Array;
}

/** Bind and Execute of a step, for `FlightStep.messages`. */
export function encodeStep({ name, values }: Pick<FlightStep, 'name' | 'values'>): Buffer {
  return writer.run(name, values).take();
}

const writer = new MessageWriter();

/** How a flight ended. */
export type FlightOutcome =
  /** Committed. First column of the first row of every main step. */
  | { readonly kind: 'done'; readonly results: readonly (string | null)[] }
  /** `step` as in `DatabaseError`. `lost`: the connection cannot be used any more. */
  | { readonly kind: 'failed'; readonly problem: unknown; readonly step: number; readonly lost: boolean };

/** A query object of the driver. Has no `name` property: the driver would file it as one prepared statement. */
export class Flight {
  /** Settles when the server is ready for the next flight, or when the connection is gone; never rejects. */
  readonly outcome: Promise<FlightOutcome>;
  readonly #prepared: PreparedStatements;
  readonly #steps: readonly FlightStep[];
  /** Index of the first main step. */
  readonly #mainAt: number;
  readonly #results: (string | null)[] = [];
  #resolve: (outcome: FlightOutcome) => void = () => {};
  #completed = 0;
  #value: string | null = null;
  #hasRow = false;
  #settled = false;
  #failing = false;

  /** @param first Hygiene and settings, at least one statement; together they are step 0. */
  constructor(prepared: PreparedStatements, first: readonly FlightStep[], main: readonly FlightStep[]) {
    this.#prepared = prepared;
    this.#steps = first.concat(main);
    this.#mainAt = first.length;
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** Sends everything in one write. */
  submit({ stream }: DriverConnection): void {
    try {
      for (const name of this.#prepared.begin(this.#steps)) writer.close(name);
      for (const step of this.#steps) {
        this.#prepare(step);
        if (step.messages === undefined) writer.run(step.name, step.values);
        else writer.append(step.messages);
      }
      const messages = writer.sync().take();
      // The driver tells of a closed socket by itself.
      if (stream.writable) stream.write(messages);
    } catch (problem) {
      // Half a flight must never reach the server as a whole one.
      writer.clear();
      stream.destroy(problem as Error);
    }
  }

  #prepare({ name, text }: FlightStep): void {
    const preparation = name === '' ? 'parse' : this.#prepared.use(name);
    if (preparation === 'none') return;
    if (preparation === 'close_and_parse') writer.close(name);
    writer.parse(name, text);
  }

  /** DataRow: one for each row; only the first counts. */
  handleDataRow(message: { readonly fields: readonly (string | null)[] }): void {
    if (this.#hasRow) return;
    this.#hasRow = true;
    this.#value = message.fields[0] ?? null;
  }

  /** CommandComplete: one statement is done, though nothing is committed yet. Counting them tells the failed step. */
  handleCommandComplete(): void {
    const isMain = this.#completed >= this.#mainAt && this.#steps[this.#completed]?.isGuard !== true;
    if (isMain) this.#results.push(this.#value);
    this.#completed += 1;
    this.#value = null;
    this.#hasRow = false;
  }

  /** EmptyQueryResponse takes the place of CommandComplete for an empty text. */
  handleEmptyQuery(): void {
    this.handleCommandComplete();
  }

  /** ReadyForQuery without an error before: the transaction is committed. Never called after `handleError`. */
  handleReadyForQuery(): void {
    this.#prepared.succeed();
    this.#settle({ kind: 'done', results: this.#results });
  }

  /**
   * ErrorResponse, or an error of the socket. A deferred constraint fails after every CommandComplete, at the Sync.
   */
  handleError(problem: unknown, connection: DriverConnection): void {
    if (this.#settled || this.#failing) return;
    this.#failing = true;
    this.#prepared.fail();
    const step = this.#completed < this.#mainAt ? 0 : this.#results.length + 1;
    if (!(problem instanceof pg.DatabaseError)) {
      this.#settle({ kind: 'failed', problem, step, lost: true });
      return;
    }
    onceSettled(connection, (lost) => this.#settle({ kind: 'failed', problem, step, lost }));
  }

  /**
   * CopyInResponse: a step asked for data, which our SQL never does. In copy mode the server has thrown our Sync away,
   * so the refusal needs one of its own.
   */
  handleCopyInResponse(connection: DriverConnection): void {
    connection.sendCopyFail('data cannot be copied in a request');
    connection.sync();
  }

  /** CopyData of a `copy … to stdout`: dropped. */
  handleCopyData(): void {}
  /** RowDescription comes only after Describe, PortalSuspended only with a row limit: neither is ever sent. */
  handleRowDescription(): void {}
  handlePortalSuspended(): void {}

  #settle(outcome: FlightOutcome): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#resolve(outcome);
  }
}
