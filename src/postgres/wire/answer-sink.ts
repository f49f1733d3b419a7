/**
 * Streams rows to the response as they arrive, no faster than the client reads.
 *
 * Written rows cannot be taken back. Nothing of the request is repeated from then on, and only a flight that is alone
 * in its batch may write rows: others in a batch could cause a repetition.
 */
import type { MessageReader } from './message-reader.ts';

/** A response body that is written in parts. */
export interface ResponseSink {
  /** The response owns the part until it calls `release`. False: write no more until `onDrain`. */
  write(part: Buffer, release: () => void): boolean;
  /** Calls back once. */
  onDrain(listener: () => void): void;
}

/** Starts the response, with the status of an answer without errors. */
export type OpenResponse = () => ResponseSink;

/** The rows' way to the response, for one flight. */
export class AnswerSink {
  readonly #open: OpenResponse | null;
  /** Gives up the flight, because its result exceeds a limit. */
  readonly overflow: () => void;
  /** Reserves memory for the result, see `DisconnectSignal`. */
  readonly hold: (bytes: number) => boolean;
  #response: ResponseSink | null = null;
  #reader: MessageReader | null = null;
  #isAlone = false;
  #isPaused = false;
  /** Further rows are dropped. */
  isOver = false;
  /** Bytes of the flight's results so far. */
  bytes = 0;

  /** @param open Null: buffer the whole answer. */
  constructor(open: OpenResponse | null, overflow: () => void, hold: AnswerSink['hold']) {
    this.#open = open;
    this.overflow = overflow;
    this.hold = hold;
  }

  /** Whether rows may be written before the last one has arrived. */
  get isOpen(): boolean {
    return this.#open !== null && this.#isAlone;
  }

  /** Whether a part has been written. */
  get hasBegun(): boolean {
    return this.#response !== null;
  }

  /** Called when the flight has a connection. */
  begin(reader: MessageReader, isAlone: boolean): void {
    this.#reader = reader;
    this.#isAlone = isAlone;
  }

  /** Writes the next part, then releases it; for a slow client, pauses the server. Only if `isOpen`. */
  write(part: Buffer, release: () => void): void {
    this.#response ??= this.#open?.() ?? null;
    if (this.#response === null || this.#response.write(part, release) || this.#isPaused) return;
    this.#pause();
    this.#response.onDrain(() => this.#resume());
  }

  /** The flight is answered: its connection is free, however slowly the client reads the rest. */
  end(): void {
    this.#resume();
    this.#reader = null;
  }

  /**
   * Gives up the request. Still reads the pending rows: a server blocked on writing does not react to a cancel request.
   */
  abandon(): void {
    this.isOver = true;
    this.#resume();
  }

  /** The server stops when the buffers between are full; some rows still arrive. */
  #pause(): void {
    if (this.isOver || this.#reader === null) return;
    this.#isPaused = true;
    this.#reader.pause();
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#reader?.resume();
  }
}
