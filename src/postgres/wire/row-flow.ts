/**
 * What the maker of an answer and the flight that brings its rows ask of each other while the rows arrive.
 *
 * Rows that were handed on cannot be taken back, so from then on nothing of the request is repeated, and only a flight that
 * shares with nobody may hand them on: what others do can have it sent again.
 */
import type { MessageReader } from './message-reader.ts';

/** The flow of the rows of one flight. */
export class RowFlow {
  readonly #onOverflow: () => void;
  #reader: MessageReader | null = null;
  #canHandOn = false;
  #isHandedOn = false;
  #isOver = false;
  #isPaused = false;

  /** @param onOverflow Gives the flight up, because its rows are too many. */
  constructor(onOverflow: () => void) {
    this.#onOverflow = onOverflow;
  }

  /** The rows may be handed on before the last one has come. */
  get canHandOn(): boolean {
    return this.#canHandOn;
  }

  /** Rows have been handed on. */
  get isHandedOn(): boolean {
    return this.#isHandedOn;
  }

  /** Nobody wants the rows that still come. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The flight has a connection. */
  begin(reader: MessageReader, canHandOn: boolean): void {
    this.#reader = reader;
    this.#canHandOn = canHandOn;
  }

  /** The server has been made to wait. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  noteHandedOn(): void {
    this.#isHandedOn = true;
  }

  /** Lets the server wait: it stops when the buffers in between are full. Some more rows come before that. */
  pause(): void {
    if (this.#isOver || this.#reader === null) return;
    this.#isPaused = true;
    this.#reader.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#reader?.resume();
  }

  /** The flight has been answered: its connection is the next one's, however slowly the rows are taken from here on. */
  end(): void {
    this.resume();
    this.#reader = null;
  }

  /** The rows are more than allowed. */
  overflow(): void {
    this.#onOverflow();
  }

  /** The request is given up. The rows under way have to be read all the same: a server that waits hears no cancel request. */
  abandon(): void {
    this.#isOver = true;
    this.resume();
  }
}
