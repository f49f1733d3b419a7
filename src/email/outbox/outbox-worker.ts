/**
 * Sends the emails of the outbox: at once after a commit of this process, and at an interval for other or dead
 * processes and for retries. Any number of processes may share a database.
 */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import { DatabaseError } from '../../postgres/database-error.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import { RepeatedWork } from '../../postgres/system/repeated-work.ts';
import {
  type Delivery,
  type DeliveryOutcome,
  type DeliverySettings,
  insertDelivery,
  newDelivery,
} from './deliveries.ts';
import { claimEmails, type OutboxEmail, storeEmail } from './outbox.ts';
import { type SendingParts, sendFromOutbox } from './send-from-outbox.ts';
import { isSuppressed } from './suppressed.ts';

/** What the outbox needs. */
export interface OutboxParts extends SendingParts {
  /** The current configuration: an email uses the mail server configured when it is sent. */
  readonly currentConfig: () => Promise<AuthConfig>;
  /** False: the database has no auth tables yet, so nothing can be stored. @throws DatabaseError */
  readonly isInstalled: () => Promise<boolean>;
  /** Version of the stored configuration. */
  readonly configVersion: () => number;
}

/** The outbox for requests. */
export interface Outbox {
  /** Stores an email in the transaction of its change. */
  add(tx: Queryable, email: OutboxEmail): Promise<void>;
  /** Call after the commit of the transaction: sends its emails. Does not wait. */
  committed(tx: Queryable): void;
  /**
   * Lists an email that the request itself sent, or that nobody sends.
   *
   * @param tx Null: outside a transaction, because that of the request is rolled back.
   */
  note(
    tx: Queryable | null,
    delivery: Delivery,
    outcome: DeliveryOutcome,
    config: DeliverySettings['config'],
  ): Promise<void>;
  /** Whether an address gets no emails now. */
  isSuppressed(tx: Queryable, address: string): Promise<boolean>;
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
  readonly #filled = new WeakMap<Queryable, OutboxEmail['message']['kind'][]>();
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

  async add(tx: Queryable, email: OutboxEmail): Promise<void> {
    const { clock, configVersion } = this.#parts;
    this.#filled.set(tx, [...(this.#filled.get(tx) ?? []), email.message.kind]);
    await storeEmail(tx, email, { now: clock.now(), version: configVersion() });
  }

  committed(tx: Queryable): void {
    const kinds = this.#filled.get(tx) ?? [];
    for (const email of kinds) this.#parts.observe({ kind: 'email', email, state: 'queued' });
    if (kinds.length > 0) this.#work.wake();
  }

  async note(
    tx: Queryable | null,
    delivery: Delivery,
    outcome: DeliveryOutcome,
    config: DeliverySettings['config'],
  ): Promise<void> {
    const { database, clock, configVersion, observe } = this.#parts;
    const settings = { config, now: clock.now(), version: configVersion() };
    await (tx ?? database).query(insertDelivery, newDelivery(delivery, outcome, settings));
    observe({ kind: 'email', email: delivery.kind, state: outcome.state });
  }

  isSuppressed(tx: Queryable, address: string): Promise<boolean> {
    return isSuppressed(tx, address, this.#parts.clock.now());
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
      const ends = await Promise.all(claimed.map((email) => sendFromOutbox(this.#parts, config, email)));
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
