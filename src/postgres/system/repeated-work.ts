/**
 * Work on the database that is done again and again while a process serves, one round at a time.
 */
import { isAway } from '../failure.ts';

interface WorkParts {
  /** Milliseconds between two rounds. */
  readonly everyMs: number;
  /** One round; it ends early where the work has stopped. */
  readonly round: () => Promise<void>;
  /** Hears of a failure, of the same one once. A database that is away is observed elsewhere. */
  readonly complain: (reason: string, error: unknown) => void;
}

/** Does it; any number of processes may do the same on one database. */
export class RepeatedWork {
  readonly #parts: WorkParts;
  /** Null where it does not work. */
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;
  /** There may be something that the current round has not seen. */
  #isWoken = false;
  #lastComplaint: string | null = null;

  constructor(parts: WorkParts) {
    this.#parts = parts;
  }

  get isStopped(): boolean {
    return this.#timer === null;
  }

  start(): void {
    this.#timer ??= setInterval(() => this.wake(), this.#parts.everyMs).unref();
  }

  /** Begins no more rounds, and waits for the one that runs. */
  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    await this.#running;
  }

  /** Begins a round at once, or after the one that runs. Does not wait. */
  wake(): void {
    if (this.#timer === null) return;
    this.#isWoken = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
  }

  async #run(): Promise<void> {
    while (this.#isWoken && this.#timer !== null) {
      this.#isWoken = false;
      try {
        await this.#parts.round();
        this.#lastComplaint = null;
      } catch (error) {
        const reason = error instanceof Error ? error.message : 'unknown reason';
        if (isAway(error) || reason === this.#lastComplaint) continue;
        this.#lastComplaint = reason;
        this.#parts.complain(reason, error);
      }
    }
  }
}
