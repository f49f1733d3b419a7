/**
 * Where the bytes of an answer go while its rows arrive: to the response, no faster than the client reads.
 *
 * Rows that were written cannot be taken back, so from then on nothing of the request is repeated, and only a flight that
 * shares with nobody may write them: what others do can have it sent again.
 */
import type { MessageReader } from './message-reader.ts';

/** The body of a response that is written in parts. */
export interface ResponseSink {
  /** The part is the response's until it calls `release`; false: it wants no more until `onDrain`. */
  write(part: Buffer, release: () => void): boolean;
  /** Calls back once. */
  onDrain(listener: () => void): void;
}

/** Begins the response, with the status of an answer without errors. */
export type OpenResponse = () => ResponseSink;

/** What one flight may do with its rows. */
export class AnswerSink {
  readonly #open: OpenResponse | null;
  /** Gives the flight up, because its rows are more than allowed. */
  readonly overflow: () => void;
  #response: ResponseSink | null = null;
  #reader: MessageReader | null = null;
  #isAlone = false;
  #isPaused = false;
  /** Nobody wants the rows that still come. */
  isOver = false;

  /** @param open Null: the answer is kept until it is whole. */
  constructor(open: OpenResponse | null, overflow: () => void) {
    this.#open = open;
    this.overflow = overflow;
  }

  /** Rows may be written before the last one has come. */
  get isOpen(): boolean {
    return this.#open !== null && this.#isAlone;
  }

  /** Something has been written. */
  get hasBegun(): boolean {
    return this.#response !== null;
  }

  /** The flight has a connection. */
  begin(reader: MessageReader, isAlone: boolean): void {
    this.#reader = reader;
    this.#isAlone = isAlone;
  }

  /** Writes the next part and releases it; where the client is slow, the server waits. Only where it `isOpen`. */
  write(part: Buffer, release: () => void): void {
    this.#response ??= this.#open?.() ?? null;
    if (this.#response === null || this.#response.write(part, release) || this.#isPaused) return;
    this.#pause();
    this.#response.onDrain(() => this.#resume());
  }

  /** The flight has been answered: its connection is the next one's, however slowly the rows are taken from here on. */
  end(): void {
    this.#resume();
    this.#reader = null;
  }

  /** The request is given up. The rows under way have to be read all the same: a server that waits hears no cancel request. */
  abandon(): void {
    this.isOver = true;
    this.#resume();
  }

  /** The server stops when the buffers in between are full. Some more rows come before that. */
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
