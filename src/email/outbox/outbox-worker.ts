/**
 * Sends what waits in the outbox: at once after a commit of this process, and for those of others, of dead processes and of
 * refused attempts whenever it looks. Any number of processes may do so on one database.
 */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import { DatabaseError } from '../../postgres/failure.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import { RepeatedWork } from '../../postgres/system/repeated-work.ts';
import { claimEmails, type QueuedEmail, storeEmail } from './outbox.ts';
import { type SendingParts, sendQueued } from './send-queued.ts';

/** What the outbox works with. */
export interface OutboxParts extends SendingParts {
  /** The configuration of the moment: the mail server of an email is that of its sending. */
  readonly currentConfig: () => Promise<AuthConfig>;
  /** Until the database has the tables of the auth service nobody can have stored anything. @throws DatabaseError */
  readonly isInstalled: () => Promise<boolean>;
}

/** The outbox as requests see it. */
export interface Outbox {
  /** Stores an email in the transaction of its change. */
  add(tx: Queryable, email: QueuedEmail): Promise<void>;
  /** Sends what was added in the transaction of the tx, which was committed. Does not wait. */
  committed(tx: Queryable): void;
}

/** Time between two looks. */
const lookEveryMs = 5000;

/** Emails of one claim, which are sent at the same time. */
const claimSize = 4;

/** Longer than a delivery can take (mailer.ts), and than clocks of processes differ. */
const leaseMs = 60_000;

/** The outbox of a process, with its worker. */
export class OutboxWorker implements Outbox {
  readonly #parts: OutboxParts;
  /** Transactions in which something was added. */
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

  /** Begins to look. */
  start(): void {
    this.#work.start();
    this.#work.wake();
  }

  /** Looks no more, and waits for what is on its way. */
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

  /** Goes on while the mail server takes something: where it takes nothing, the next look is early enough. */
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

  /** What was claimed comes back by itself. */
  #complain(reason: string, error: unknown): void {
    const message = `The emails that wait could not be looked at: ${reason}`;
    const hint = 'Tables of an earlier version? Run `pgreflect init --auth`.';
    this.#parts.observe({ kind: 'warning', message, ...(error instanceof DatabaseError && { hint }) });
  }
}
