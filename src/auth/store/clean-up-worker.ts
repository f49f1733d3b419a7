/**
 * Runs the clean-up again and again while a process serves. Any number of processes may do so on one database.
 */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import { DatabaseError } from '../../postgres/failure.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Observe } from '../../shared/observation.ts';
import { cleanUp } from './clean-up.ts';

/** What it works with. */
export interface CleanUpParts {
  readonly database: Queryable;
  readonly currentConfig: () => Promise<AuthConfig>;
  /** Until the database has the tables there is nothing to delete. @throws DatabaseError */
  readonly isInstalled: () => Promise<boolean>;
  /** Milliseconds between two looks; 0: none at all. */
  readonly everyMs: number;
  readonly deleteAnonymousUsers: boolean;
  readonly clock: Clock;
  readonly observe: Observe;
}

/** The clean-up of a process. */
export class CleanUpWorker {
  readonly #parts: CleanUpParts;
  /** Null where it does not work. */
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;
  #lastComplaint: string | null = null;

  constructor(parts: CleanUpParts) {
    this.#parts = parts;
  }

  /** Begins to look, for the first time after a while: a start has better things to do. */
  start(): void {
    const { everyMs } = this.#parts;
    if (everyMs > 0) this.#timer ??= setInterval(() => this.#wake(), everyMs).unref();
  }

  /** Looks no more, and waits for the statement that runs. */
  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    await this.#running;
  }

  #wake(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
  }

  async #run(): Promise<void> {
    try {
      if (!(await this.#parts.isInstalled())) return;
      while (this.#timer !== null && (await this.#round()));
      this.#lastComplaint = null;
    } catch (error) {
      this.#complain(error);
    }
  }

  /** @returns Whether there may be more. */
  async #round(): Promise<boolean> {
    const { database, currentConfig, clock, deleteAnonymousUsers } = this.#parts;
    const counts = await cleanUp(database, { config: await currentConfig(), now: clock.now(), deleteAnonymousUsers });
    return Object.values(counts).some((count) => count > 0);
  }

  /** A database that is away is observed elsewhere. */
  #complain(error: unknown): void {
    if (error instanceof DatabaseError && (error.kind === 'unavailable' || error.kind === 'overloaded')) return;
    const reason = error instanceof Error ? error.message : 'unknown reason';
    if (reason === this.#lastComplaint) return;
    this.#lastComplaint = reason;
    const message = `What is of no use any more could not be deleted from the auth tables: ${reason}`;
    this.#parts.observe({ kind: 'warning', message });
  }
}
