/** Repeats work on the database while a process serves, one round at a time. */
import { withSpan } from '../../shared/trace/current-span.ts';
import { isAway } from '../database-error.ts';

interface WorkParts {
  /** Pause between two rounds in milliseconds. */
  readonly everyMs: number;
  /** One round; it ends early if the work was stopped. */
  readonly round: () => Promise<void>;
  /** Called for a failure, once for equal ones in a row. An unavailable database is reported elsewhere. */
  readonly complain: (reason: string) => void;
}

/** The repeated work; any number of processes may do it on one database. */
export class RepeatedWork {
  readonly #parts: WorkParts;
  /** Null while stopped. */
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;
  /** There may be work that the current round has missed. */
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

  /** Starts no more rounds, and waits for the running one. */
  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    await this.#running;
  }

  /** Starts a round now, or after the running one. Does not wait. */
  wake(): void {
    if (this.#timer === null) return;
    this.#isWoken = true;
    // For nobody's request, even if one has woken it.
    this.#running ??= withSpan(null, () => this.#run()).finally(() => {
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
        this.#parts.complain(reason);
      }
    }
  }
}
