/**
 * One flight: all statements of one request as one write to the database and one answer from it, in one transaction.
 *
 * The messages, in order (PostgreSQL manual, "Extended Query"):
 *
 *     Close 'old'                    names over the limit, see prepared-statements.ts
 *     Parse '' … Bind, Execute       where code of a user may have run before: nobody has prepared a statement by SQL (step 0)
 *     Parse 'a' … Bind, Execute      reset and settings (step 0): sets role, claims, limits for this transaction only
 *     Parse 'b' … Bind, Execute      main step 1, parsed after the settings have run, because looking up names needs the
 *     Bind, Execute                  settings again   role's search path and privileges
 *     Parse 'c' … Bind, Execute      main step 2, which thus runs as the caller, whatever step 1 has called
 *     Sync                           ends the implicit transaction: commits, or undoes all after an error
 *
 * There is no explicit `begin`: messages up to a Sync are one transaction. After an error the server skips the rest, so
 * nothing ever runs without its settings. `Parse` is left out where the connection knows the name, `Close` comes before
 * it where that is uncertain. Results are text. Statements that could
 * end a transaction (`call`, `do`, `commit`) must never be among the steps: the settings would end with it.
 *
 * Several flights may be written at once (flight-batch.ts); each ends with a Sync of its own, so each is a transaction of its own.
 * Rows and completed statements come from our own reader (message-reader.ts); the driver calls one `handle…` for each other message.
 */
import pg from 'pg';
import { keepBytes } from '../../shared/keep-bytes.ts';
import type { Utf8Text } from '../../shared/utf8-text.ts';
import { onceSettled } from './driver.ts';
import type { DriverConnection } from './driver-connection.ts';
import { MessageReader, type MessageReceiver } from './message-reader.ts';
import { MessageWriter } from './message-writer.ts';
import { type NameChanges, noChanges, type PreparedStatements } from './prepared-statements.ts';

/** What was made of the rows of a statement. */
export type FlightResult = string | Utf8Text;

/** A column of the rows of a statement. */
export interface Column {
  readonly name: string;
  readonly dataTypeID: number;
}

/** Makes the result of a statement from its rows, while they arrive. Must not throw. */
export interface RowCollector {
  /** What the rows consist of, before the first one. A collector without this does not ask. */
  describe?(columns: readonly Column[]): void;
  /**
   * A row: in `bytes` at `at` the length of the first column as a signed 32-bit number, -1 for SQL null, then its text in
   * UTF-8, and so on for each column. The bytes stay as they are until `keep`.
   */
  add(bytes: Buffer, at: number): void;
  /** A row that was too long to be kept. Without this such a row closes the connection. */
  addLarge?(): void;
  /** The bytes of the rows so far may be written over from now on. */
  keep?(): void;
  /** After the last row; null where the rows went elsewhere. */
  finish(): FlightResult | null;
}

/** One statement on its way. */
export interface FlightStep {
  /** Empty = unnamed. */
  readonly name: string;
  readonly text: string;
  readonly values: readonly (string | null)[];
  /** Sets the settings again before the step that follows; has no result and no number of its own. */
  readonly isGuard?: true;
  /** Unnamed, and not prepared again where the connection still has it. */
  readonly isKept?: boolean;
  /** Takes its rows; without one the first column of the first row is the result. */
  readonly collector?: RowCollector;
  /** Bind and Execute as bytes, for steps that are sent again and again with the same values. */
  readonly messages?: Uint8Array;
}

/** The same steps with Bind and Execute as bytes, which are kept. */
export function encodeSteps(steps: readonly FlightStep[]): readonly FlightStep[] {
  const kept = keepBytes(steps.map(({ name, values }) => writer.run(name, values).take()));
  return steps.map((step, index) => ({ ...step, messages: kept[index]! }));
}

const writer = new MessageWriter();
const none: readonly never[] = [];

/** How a flight ended. */
export type FlightOutcome =
  /** Committed. What was made of the rows of every main step. */
  { readonly kind: 'done'; readonly results: readonly (FlightResult | null)[] } | FlightFailure;

/** `step` as in `DatabaseError`. `lost`: the connection cannot be used any more. */
interface FlightFailure {
  readonly kind: 'failed';
  readonly problem: unknown;
  readonly step: number;
  readonly lost: boolean;
}

/** A query object of the driver. Has no `name` property: the driver would file it as one prepared statement. */
export class Flight implements MessageReceiver {
  readonly #prepared: PreparedStatements;
  readonly #steps: readonly FlightStep[];
  /** Index of the first main step. */
  readonly #mainAt: number;
  readonly #results: (FlightResult | null)[] = [];
  readonly #onEnd: (outcome: FlightOutcome) => void;
  #names: NameChanges = noChanges;
  #isWritten = false;
  /** Flights that are written together with this one and answered after it, in this order. */
  #followers: readonly Flight[] = none;
  #completed = 0;
  #value: string | null = null;
  #hasRow = false;
  #settled = false;
  #failing = false;

  /**
   * @param first Reset and settings; together they are step 0.
   * @param onEnd Called once, when the server is ready for the next flight or the connection is gone, and before the next
   *   message is read: a follower has to be handed to the driver in it.
   */
  constructor(
    prepared: PreparedStatements,
    steps: { readonly first: readonly FlightStep[]; readonly main: readonly FlightStep[] },
    onEnd: (outcome: FlightOutcome) => void,
  ) {
    this.#prepared = prepared;
    this.#steps = steps.first.concat(steps.main);
    this.#mainAt = steps.first.length;
    this.#onEnd = onEnd;
  }

  /** Takes others along, before this one is handed to the driver. */
  lead(followers: readonly Flight[]): void {
    this.#followers = followers;
  }

  /** Sends everything in one write; a flight that another one took along has been sent. */
  submit(connection: DriverConnection): void {
    MessageReader.of(connection).receiver = this;
    if (this.#isWritten) return;
    const { stream } = connection;
    try {
      this.#write();
      for (const follower of this.#followers) follower.#write();
      const messages = writer.take();
      // The driver tells of a closed socket by itself.
      if (stream.writable) stream.write(messages);
    } catch (problem) {
      // Half a flight must never reach the server as a whole one.
      writer.clear();
      stream.destroy(problem as Error);
    }
  }

  #write(): void {
    this.#isWritten = true;
    this.#names = this.#prepared.begin(this.#steps);
    for (const name of this.#names.closed) writer.close(name);
    for (const step of this.#steps) {
      this.#prepare(step);
      if (step.messages === undefined) writer.run(step.name, step.values, step.collector?.describe !== undefined);
      else writer.append(step.messages);
    }
    writer.sync();
  }

  #prepare({ name, text, isKept = false }: FlightStep): void {
    if (isKept && this.#prepared.hasUnnamed(text)) return;
    if (name === '') this.#prepared.useUnnamed(this.#names, text);
    const preparation = name === '' ? 'parse' : this.#prepared.use(this.#names, name);
    if (preparation === 'close_and_parse') writer.close(name);
    if (preparation !== 'none') writer.parse(name, text);
  }

  /** A row of the statement that the server is at. */
  handleRow(bytes: Buffer, at: number): void {
    const step = this.#steps[this.#completed];
    const collector = step?.collector;
    if (collector !== undefined) {
      this.#hasRow = true;
      collector.add(bytes, at);
    } else if (!this.#hasRow) {
      this.#hasRow = true;
      this.#value = this.#completed < this.#mainAt ? null : firstColumn(bytes, at);
    }
  }

  handleLargeRow(): boolean {
    const collector = this.#steps[this.#completed]?.collector;
    collector?.addLarge?.();
    return collector?.addLarge !== undefined;
  }

  handleEndOfRead(): void {
    if (this.#hasRow) this.#steps[this.#completed]?.collector?.keep?.();
  }

  /** One statement is done, though nothing is committed yet. Counting them tells the failed step. */
  handleComplete(): void {
    const step = this.#steps[this.#completed];
    const isMain = this.#completed >= this.#mainAt && step?.isGuard !== true;
    if (isMain) this.#results.push(step?.collector === undefined ? this.#value : step.collector.finish());
    this.#completed += 1;
    this.#value = null;
    this.#hasRow = false;
  }

  /** ReadyForQuery without an error before: the transaction is committed. Never called after `handleError`. */
  handleReadyForQuery(connection: DriverConnection): void {
    const { stream } = connection;
    MessageReader.of(connection).receiver = null;
    if (this.#completed !== this.#steps.length) {
      // Somebody else's answer: nothing that follows on this connection can be trusted.
      const problem = new Error('The server answered another number of statements than were sent.');
      stream.destroy(problem);
      this.#settle({ kind: 'failed', problem, step: 0, lost: true });
      return;
    }
    this.#prepared.succeed(this.#names);
    this.#settle({ kind: 'done', results: this.#results });
  }

  /**
   * ErrorResponse, or an error of the socket. A deferred constraint fails after every CommandComplete, at the Sync.
   */
  handleError(problem: unknown, connection: DriverConnection): void {
    if (this.#settled || this.#failing) return;
    this.#failing = true;
    MessageReader.of(connection).receiver = null;
    this.#prepared.fail(this.#names);
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
  /** RowDescription: asked for where a collector wants it, and the answer to an unexpected statement too. */
  handleRowDescription({ fields }: { readonly fields: readonly Column[] }): void {
    this.#steps[this.#completed]?.collector?.describe?.(fields);
  }

  /** PortalSuspended comes only with a row limit, which is never sent. */
  handlePortalSuspended(): void {}

  #settle(outcome: FlightOutcome): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#onEnd(outcome);
  }
}

function firstColumn(bytes: Buffer, at: number): string | null {
  const length = bytes.readInt32BE(at);
  return length < 0 ? null : bytes.toString('utf8', at + 4, at + 4 + length);
}
