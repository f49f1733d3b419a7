/** The memory that the results of one flight may take, and what happens beyond it. */
export class AnswerMemory {
  /** Gives up the flight, because its result exceeds a limit. */
  readonly overflow: () => void;
  /** Reserves memory for the result, see `DisconnectSignal`. */
  readonly hold: (bytes: number) => boolean;
  /** Further rows are dropped. They are still read: a server blocked on writing does not react to a cancel request. */
  isOver = false;
  /** Bytes of the flight's results so far. */
  bytes = 0;

  constructor(overflow: () => void, hold: AnswerMemory['hold']) {
    this.overflow = overflow;
    this.hold = hold;
  }
}
