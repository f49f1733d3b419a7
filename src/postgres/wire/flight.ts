/**
 * One flight: all statements of a request as one write and one answer, in one transaction (PostgreSQL manual, "Extended
 * Query": messages up to one Sync).
 *
 * Order: Close of surplus names; a check for foreign prepared statements, reset and settings (step 0); main steps, each
 * but the first behind the settings again; a Flush if it writes; Sync. Main steps are parsed after the settings, because names are looked up
 * with the caller's search path and privileges. Messages up to a Sync are one transaction without `begin`: after an
 * error the server skips the rest, so nothing runs without its settings. Statements that could end the transaction
 * (`call`, `do`, `commit`) must never be steps. Several flights may be written at once (flight-batch.ts).
 */
import pg from 'pg';
import type { DisconnectSignal } from '../../shared/disconnect-signal.ts';
import { keepBytes } from '../../shared/keep-bytes.ts';
import type { Utf8Text } from '../../shared/utf8-text.ts';
import { preRequestStepNumber } from '../database-error.ts';
import { onceSettled } from './driver.ts';
import type { DriverConnection } from './driver-connection.ts';
import { MessageReader, type MessageReceiver } from './message-reader.ts';
import { MessageWriter } from './message-writer.ts';
import { type NameChanges, noChanges, type PreparedStatements } from './prepared-statements.ts';

/** The result of a statement. */
export type FlightResult = string | Utf8Text;

/** A column of a result. */
export interface OutputColumn {
  readonly name: string;
  readonly dataTypeID: number;
}

/** Makes the result of a statement from its rows as they arrive. Must not throw. */
export interface RowCollector {
  /** Called with the columns before the first row. Without this method, they are not requested. */
  describe?(columns: readonly OutputColumn[]): void;
  /**
   * A row: from `at` in `bytes`, the length of the first column as a signed 32-bit number (-1 for SQL null), then its
   * text in UTF-8, and so on for each column. The bytes are valid until `keep`.
   */
  add(bytes: Buffer, at: number): void;
  /** Called for a row too long to buffer. Without this method, such a row closes the connection. */
  addLarge?(): void;
  /** The bytes of all rows so far are about to be overwritten: copy what is needed. */
  keep?(): void;
  /** Called before `finish` with the number of rows that the command has written or returned. */
  setTotal?(rows: number): void;
  /** Called after the last row; null if the rows were written elsewhere. */
  finish(): FlightResult | null;
}

/** One statement of a flight. */
export interface FlightStep {
  /** Empty = unnamed. */
  readonly name: string;
  readonly text: string;
  readonly values: readonly (string | null)[];
  /** Between the main steps or behind them, to set the settings again or to end writes; has no result and no step number. */
  readonly isGuard?: true;
  /** Runs before the main steps, behind the preamble; has no result, and its step number is -1. */
  readonly isPreRequest?: true;
  /** Unnamed, and not parsed again while the connection still has it. */
  readonly isKept?: boolean;
  /** Collects its rows; default: the result is the first column of the first row. */
  readonly collector?: RowCollector;
  /** The values as bytes, for steps sent repeatedly with the same ones. */
  readonly bound?: Uint8Array;
}

/** The bytes of values, in memory of their own. */
export function boundValues(values: readonly (string | null)[]): Uint8Array {
  const [kept] = keepBytes([writer.values(values).take()]);
  return kept as Buffer;
}

/** Memory for each byte of a long row: the row and the text that is made of it. */
const bytesOfRow = 2;

const writer = new MessageWriter();
const none: readonly never[] = [];

/** The end of a flight. */
export type FlightOutcome = FlightSuccess | FlightFailure;

/** Committed, with the results of all main steps. */
interface FlightSuccess {
  readonly kind: 'done';
  readonly results: readonly (FlightResult | null)[];
  /** The server had something to say while it committed: perhaps that it did not wait for a standby. */
  readonly isNoted: boolean;
}

/** `step` as in `DatabaseError`. `lost`: the connection is unusable. */
export interface FlightFailure {
  readonly kind: 'failed';
  readonly problem: unknown;
  readonly step: number;
  readonly lost: boolean;
}

/** A query object of the driver. It must not have a `name`: the driver would treat it as one prepared statement. */
export class Flight implements MessageReceiver {
  readonly #prepared: PreparedStatements;
  readonly #steps: readonly FlightStep[];
  readonly #writes: boolean;
  /** Index of the first main step. */
  readonly #mainAt: number;
  readonly #results: (FlightResult | null)[] = [];
  readonly #onEnd: (outcome: FlightOutcome) => void;
  #names: NameChanges = noChanges;
  #isWritten = false;
  /** Flights written together with this one and answered after it, in this order. */
  #followers: readonly Flight[] = none;
  #completed = 0;
  #value: string | null = null;
  #hasRow = false;
  #isNoted = false;
  #settled = false;
  #failing = false;
  readonly #hold: DisconnectSignal['hold'];
  /** A row was dropped, because its client may have no more memory. */
  #isRefused = false;

  /**
   * @param first Reset and settings; together they are step 0.
   * @param writes So `isCommitting` is to be known.
   * @param onEnd Called once, when the server is ready for the next flight or the connection is lost, before the next
   *   message is read: it must hand the next follower to the driver.
   * @param hold Reserves memory for the results; by default there is no limit.
   */
  constructor(
    prepared: PreparedStatements,
    steps: { readonly first: readonly FlightStep[]; readonly main: readonly FlightStep[]; readonly writes?: boolean },
    onEnd: (outcome: FlightOutcome) => void,
    hold?: DisconnectSignal['hold'],
  ) {
    this.#hold = hold;
    this.#prepared = prepared;
    this.#steps = steps.first.concat(steps.main);
    this.#writes = steps.writes ?? false;
    this.#mainAt = steps.first.length;
    this.#onEnd = onEnd;
  }

  /** All statements of a flight that writes are done, and the commit is not answered. */
  get isCommitting(): boolean {
    return this.#writes && !this.#settled && !this.#failing && this.#completed === this.#steps.length;
  }

  /** Adds followers, before this flight is handed to the driver. */
  lead(followers: readonly Flight[]): void {
    this.#followers = followers;
  }

  /** Sends everything in one write. A follower was sent already. */
  submit(connection: DriverConnection): void {
    MessageReader.of(connection).receiver = this;
    if (this.#isWritten) return;
    const { stream } = connection;
    try {
      this.#write();
      for (const follower of this.#followers) follower.#write();
      const messages = writer.take();
      // The driver itself reports a closed socket.
      if (stream.writable) stream.write(messages);
    } catch (problem) {
      // Never send a part of a flight: it would run as a whole one.
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
      writer.run(step.name, step.bound ?? step.values, step.collector?.describe !== undefined);
    }
    if (this.#prepared.closesUnnamed(this.#names)) writer.close('');
    // Otherwise the answers would come with that of the Sync.
    if (this.#writes) writer.flush();
    writer.sync();
  }

  #prepare(step: FlightStep): void {
    const { name, text, isKept = false } = step;
    if (isKept && this.#prepared.hasUnnamed(text)) return;
    if (name === '') this.#prepared.useUnnamed(this.#names, text);
    const preparation = name === '' ? 'parse' : this.#prepared.use(this.#names, step);
    if (preparation === 'close_and_parse') writer.close(name);
    if (preparation !== 'none') writer.parse(name, text);
  }

  /** A row of the current statement. */
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

  handleLongRow(bytes: number): boolean {
    // The text that is made of it comes on top.
    this.#isRefused ||= this.#hold?.(bytesOfRow * bytes) === false;
    return !this.#isRefused;
  }

  handleLargeRow(): boolean {
    if (this.#isRefused) return true;
    const collector = this.#steps[this.#completed]?.collector;
    collector?.addLarge?.();
    return collector?.addLarge !== undefined;
  }

  handleEndOfRead(): void {
    if (this.#hasRow) this.#steps[this.#completed]?.collector?.keep?.();
  }

  /** One statement is done but not committed. The count identifies a failed step. */
  handleComplete(bytes: Buffer, end: number): void {
    const step = this.#steps[this.#completed];
    const isMain = this.#completed >= this.#mainAt && step?.isGuard !== true && step?.isPreRequest !== true;
    const collector = step?.collector;
    collector?.setTotal?.(rowsInTag(bytes, end));
    if (isMain) this.#results.push(collector === undefined ? this.#value : collector.finish());
    this.#completed += 1;
    this.#value = null;
    this.#hasRow = false;
  }

  /** What it says of statements is for people; but when all are done, it commits. */
  handleNotice(): void {
    this.#isNoted ||= this.#completed === this.#steps.length;
  }

  /** ReadyForQuery without an error before: the transaction is committed. Never called after `handleError`. */
  handleReadyForQuery(connection: DriverConnection): void {
    const { stream } = connection;
    MessageReader.of(connection).receiver = null;
    if (this.#completed !== this.#steps.length) {
      // The answer belongs to another flight: the connection is no longer trustworthy.
      const problem = new Error('The server answered another number of statements than were sent.');
      stream.destroy(problem);
      this.#settle({ kind: 'failed', problem, step: 0, lost: true });
      return;
    }
    this.#prepared.succeed(this.#names);
    this.#settle({ kind: 'done', results: this.#results, isNoted: this.#isNoted });
  }

  /** ErrorResponse, or an error of the socket. A deferred constraint fails at the Sync, after every CommandComplete. */
  handleError(problem: unknown, connection: DriverConnection): void {
    if (this.#settled || this.#failing) return;
    this.#failing = true;
    MessageReader.of(connection).receiver = null;
    this.#prepared.fail(this.#names);
    const isPreRequest = this.#steps[this.#completed]?.isPreRequest === true;
    const step = isPreRequest ? preRequestStepNumber : this.#completed < this.#mainAt ? 0 : this.#results.length + 1;
    if (!(problem instanceof pg.DatabaseError)) {
      this.#settle({ kind: 'failed', problem, step, lost: true });
      return;
    }
    onceSettled(connection, (lost) => this.#settle({ kind: 'failed', problem, step, lost }));
  }

  /** CopyInResponse: never of our SQL. In copy mode the server has dropped our Sync, so the refusal needs another. */
  handleCopyInResponse(connection: DriverConnection): void {
    connection.sendCopyFail('data cannot be copied in a request');
    connection.sync();
  }

  /** CopyData of a `copy … to stdout`: dropped. */
  handleCopyData(): void {}
  /** RowDescription: requested if a collector needs it, and also sent for an unexpected statement. */
  handleRowDescription({ fields }: { readonly fields: readonly OutputColumn[] }): void {
    this.#steps[this.#completed]?.collector?.describe?.(fields);
  }

  /** PortalSuspended needs a row limit, which we never send. */
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

/** The number at the end of a command tag, such as `INSERT 0 2`; 0 without one. */
function rowsInTag(bytes: Buffer, end: number): number {
  let rows = 0;
  let unit = 1;
  for (let at = end - 2; bytes[at]! >= 0x30 && bytes[at]! <= 0x39; at -= 1, unit *= 10) {
    rows += unit * (bytes[at]! - 0x30);
  }
  return rows;
}
