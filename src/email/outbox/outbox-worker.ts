/**
 * Sends the emails of the outbox: at once after a commit of this process, and at an interval for other or dead
 * processes and for retries. Any number of processes may share a database.
 */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import { RepeatedWork } from '../../postgres/system/repeated-work.ts';
import { inSpan } from '../../shared/trace/current-span.ts';
import {
  type DeliveryOutcome,
  type DeliverySettings,
  type EmailFacts,
  insertDelivery,
  newDelivery,
  outcomeValues,
  setOutcome,
} from './deliveries.ts';
import { type ClaimedEmail, claimEmails, type OutboxEmail, removeEmail, storeEmail } from './outbox.ts';
import { type SendingParts, sendFromOutbox } from './send-from-outbox.ts';
import { isSuppressed } from './suppressed.ts';

/** What the outbox needs. */
export interface OutboxParts extends Omit<SendingParts, 'finish'> {
  /** The current configuration: an email uses the mail server configured when it is sent. */
  readonly currentConfig: () => Promise<AuthConfig>;
  /** False: the database has no auth tables yet, so nothing can be stored. @throws DatabaseError */
  readonly isInstalled: () => Promise<boolean>;
  readonly configVersion: () => number;
}

/** The outbox for requests. */
export interface Outbox {
  /** Stores an email in the transaction of its change. */
  add(tx: Queryable, email: OutboxEmail): Promise<void>;
  /** Call after the commit of the transaction: sends its emails. Does not wait. */
  committed(tx: Queryable): void;
  /**
   * Lists an email that the request itself sent, or that is never sent.
   *
   * @param tx Null: outside a transaction, because that of the request is rolled back.
   */
  note(
    tx: Queryable | null,
    delivery: EmailFacts,
    outcome: DeliveryOutcome,
    config: DeliverySettings['config'],
  ): Promise<void>;
  /** Lists an email before it is sent, as one whose sending was cut off. @returns Its id, for `finish`. */
  begin(delivery: EmailFacts, config: DeliverySettings['config']): Promise<string>;
  /** Records the delivery status of a listed email. */
  finish(id: string, kind: EmailFacts['kind'], outcome: DeliveryOutcome): Promise<void>;
  /** Whether an address gets no emails now. @param tx Null: outside a transaction. */
  isSuppressed(tx: Queryable | null, address: string): Promise<boolean>;
}

const lookEveryMs = 5000;

/** Emails per claim, sent in parallel. */
const claimSize = 4;

/** Longer than a delivery can take (mailer.ts), plus the difference between the processes' clocks. */
const leaseMs = 60_000;

const finishDelivery = `with ids as (select $5::bigint as delivery_id, 1 as attempts) ${setOutcome}`;

/** The outbox of a process, with its worker. */
export class OutboxWorker implements Outbox {
  readonly #parts: OutboxParts;
  /** Transactions with added emails. */
  readonly #filled = new WeakMap<Queryable, OutboxEmail['message']['kind'][]>();
  /** Emails that were sent or given up, by id, but not removed, because the database went away meanwhile. */
  readonly #unnoted = new Map<string, () => Promise<void>>();
  readonly #work: RepeatedWork;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
    this.#work = new RepeatedWork({
      everyMs: lookEveryMs,
      round: () => this.#drain(),
      // Claimed emails return when their lease ends.
      complain: (reason) =>
        parts.observe({ kind: 'warning', message: `The emails that wait could not be looked at: ${reason}` }),
    });
  }

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
    const store = () => storeEmail(tx, email, { now: clock.now(), version: configVersion() });
    await inSpan({ name: `queue email ${email.message.kind}`, kind: 'producer' }, store);
  }

  committed(tx: Queryable): void {
    const kinds = this.#filled.get(tx) ?? [];
    for (const email of kinds) this.#parts.observe({ kind: 'email', email, state: 'queued' });
    if (kinds.length > 0) this.#work.wake();
  }

  async note(
    tx: Queryable | null,
    delivery: EmailFacts,
    outcome: DeliveryOutcome,
    config: DeliverySettings['config'],
  ): Promise<void> {
    const { database, clock, configVersion, observe } = this.#parts;
    const settings = { config, now: clock.now(), version: configVersion() };
    await (tx ?? database).query(insertDelivery, newDelivery(delivery, outcome, settings));
    observe({ kind: 'email', email: delivery.kind, state: outcome.state });
  }

  async begin(delivery: EmailFacts, config: DeliverySettings['config']): Promise<string> {
    const { database, clock, configVersion } = this.#parts;
    const settings = { config, now: clock.now(), version: configVersion() };
    const cutOff = { state: 'failed', answer: 'the gateway stopped while it was sent' } as const;
    const values = newDelivery(delivery, cutOff, settings);
    const [row] = await database.query(`${insertDelivery} returning id::text`, values);
    return String(row?.id);
  }

  async finish(id: string, kind: EmailFacts['kind'], outcome: DeliveryOutcome): Promise<void> {
    const { database, clock, observe } = this.#parts;
    await database.query(finishDelivery, [...outcomeValues(outcome, clock.now()), id]);
    observe({ kind: 'email', email: kind, state: outcome.state });
  }

  isSuppressed(tx: Queryable | null, address: string): Promise<boolean> {
    const { database, clock } = this.#parts;
    return isSuppressed(tx ?? database, address, clock.now());
  }

  /**
   * Continues while the mail server accepts emails; otherwise waits for the next poll. Deferred recipients do not
   * stop the loop; otherwise anyone could block the queue with addresses that always defer.
   */
  async #drain(): Promise<void> {
    const { database, clock, currentConfig, isInstalled } = this.#parts;
    if (!(await isInstalled())) return;
    for (const note of [...this.#unnoted.values()]) await note();
    const sending: SendingParts = { ...this.#parts, finish: (email, outcome) => this.#remove(email, outcome) };
    let goOn: boolean;
    do {
      const claimed = await claimEmails(database, { now: clock.now(), leaseMs, limit: claimSize });
      if (claimed.length === 0) return;
      const config = await currentConfig();
      const ends = await Promise.all(claimed.map((email) => sendFromOutbox(sending, config, email)));
      goOn = ends.some((end) => end !== 'waiting');
    } while (goOn && !this.#work.isStopped);
  }

  /** Until it has succeeded, each round tries again before it claims any: this process sends nothing twice. */
  async #remove(email: ClaimedEmail, outcome: DeliveryOutcome): Promise<void> {
    const now = this.#parts.clock.now();
    const note = async () => {
      await removeEmail(this.#parts.database, email, outcome, now);
      this.#unnoted.delete(email.id);
    };
    this.#unnoted.set(email.id, note);
    await note();
  }
}
