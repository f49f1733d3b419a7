/**
 * Sends the emails of the outbox: at once after a commit of this process, and at an interval for other or dead
 * processes and for retries. Any number of processes may share a database.
 */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import { DatabaseError } from '../../postgres/failure.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import { RepeatedWork } from '../../postgres/system/repeated-work.ts';
import { claimEmails, type QueuedEmail, storeEmail } from './outbox.ts';
import { type SendingParts, sendQueued } from './send-queued.ts';

/** What the outbox needs. */
export interface OutboxParts extends SendingParts {
  /** The current configuration: an email uses the mail server configured when it is sent. */
  readonly currentConfig: () => Promise<AuthConfig>;
  /** False: the database has no auth tables yet, so nothing can be stored. @throws DatabaseError */
  readonly isInstalled: () => Promise<boolean>;
}

/** The outbox for requests. */
export interface Outbox {
  /** Stores an email in the transaction of its change. */
  add(tx: Queryable, email: QueuedEmail): Promise<void>;
  /** Call after the commit of the transaction: sends its emails. Does not wait. */
  committed(tx: Queryable): void;
}

/** Polling interval. */
const lookEveryMs = 5000;

/** Emails per claim, sent in parallel. */
const claimSize = 4;

/** Longer than a delivery can take (mailer.ts), plus the difference between the processes' clocks. */
const leaseMs = 60_000;

/** The outbox of a process, with its worker. */
export class OutboxWorker implements Outbox {
  readonly #parts: OutboxParts;
  /** Transactions with added emails. */
  readonly #filled = new WeakSet<Queryable>();
  readonly #work: RepeatedWork;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
    this.#work = new RepeatedWork({
      everyMs: lookEveryMs,
      round: () => this.#drain(),
      complain: (reason, error) => this.#complain(reason, error),
    });
  }

  /** Starts polling. */
  start(): void {
    this.#work.start();
    this.#work.wake();
  }

  /** Stops polling, and waits for emails being sent. */
  stop(): Promise<void> {
    return this.#work.stop();
  }

  async add(tx: Queryable, email: QueuedEmail): Promise<void> {
    this.#filled.add(tx);
    await storeEmail(tx, email, this.#parts.clock.now());
  }

  committed(tx: Queryable): void {
    if (this.#filled.has(tx)) this.#work.wake();
  }

  /** Continues while the mail server accepts emails; otherwise waits for the next poll. */
  async #drain(): Promise<void> {
    const { database, clock, currentConfig, isInstalled } = this.#parts;
    if (!(await isInstalled())) return;
    let goOn: boolean;
    do {
      const claimed = await claimEmails(database, { now: clock.now(), leaseMs, limit: claimSize });
      if (claimed.length === 0) return;
      const config = await currentConfig();
      const ends = await Promise.all(claimed.map((email) => sendQueued(this.#parts, config, email)));
      goOn = ends.includes('gone');
    } while (goOn && !this.#work.isStopped);
  }

  /** Claimed emails return when their lease ends. */
  #complain(reason: string, error: unknown): void {
    const message = `The emails that wait could not be looked at: ${reason}`;
    const hint = 'Tables of an earlier version? Run `pgreflect init --auth`.';
    this.#parts.observe({ kind: 'warning', message, ...(error instanceof DatabaseError && { hint }) });
  }
}
