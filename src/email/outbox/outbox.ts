/**
 * Emails stored in the transaction of their change and sent after its commit: never for a change that was rolled back,
 * and at least once for a committed one, whatever happens to the process or the mail server.
 *
 * A claim is a lease: the row stays and becomes due again when its process must be dead (outbox-worker.ts). So no
 * transaction waits for a mail server, and other processes take over from a killed one.
 */
import type { Queryable } from '../../postgres/system/queryable.ts';
import { currentSpan } from '../../shared/trace/current-span.ts';
import { writeTraceParent } from '../../shared/trace/trace-context.ts';
import type { OutgoingEmail } from '../message/hook-email.ts';
import {
  type DeliveryOutcome,
  type DeliverySettings,
  deliveryOf,
  insertDelivery,
  newDelivery,
  outcomeValues,
  setOutcome,
} from './deliveries.ts';
import { isSuppressedSql } from './suppressed.ts';

/** An email to send later. */
export interface OutboxEmail {
  readonly message: OutgoingEmail;
  /** The user, for the log. */
  readonly userId: string;
  /** In seconds; an older email is dropped. */
  readonly lifetimeSeconds: number;
  /** The configuration of the request. */
  readonly config: DeliverySettings['config'];
}

/** What is stored beside the message: the span in which it was queued. */
interface TracedEmail {
  readonly traceparent?: string;
}

function traceOfRequest(): TracedEmail {
  const span = currentSpan();
  return span?.isRecorded && span.outgoing ? { traceparent: writeTraceParent(span.outgoing) } : {};
}

/** A claimed email, which no other process takes until the lease ends. */
export interface ClaimedEmail {
  readonly id: string;
  readonly message: OutgoingEmail & TracedEmail;
  readonly userId: string;
  /** Number of attempts, including this one. */
  readonly attempts: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Its recipient gets no emails at the moment. */
  readonly isSuppressed: boolean;
}

/** Stores an email and its delivery in the transaction of its change. */
export async function storeEmail(
  tx: Queryable,
  { message, userId, lifetimeSeconds, config }: OutboxEmail,
  { version, now }: Omit<DeliverySettings, 'config'>,
): Promise<void> {
  const delivery = newDelivery(
    deliveryOf(message, userId),
    { state: 'queued', answer: null },
    { config, version, now },
  );
  const expiresAt = new Date(now + lifetimeSeconds * 1000);
  await tx.query(
    `with delivery as (${insertDelivery} returning id)
    insert into pgreflect_queue.emails (kind, user_id, message, created_at, expires_at, due_at, delivery_id)
    select $1, $2::uuid, $13::json, $10::timestamptz, $14::timestamptz, $10::timestamptz, delivery.id from delivery`,
    [...delivery, JSON.stringify({ ...message, ...traceOfRequest() }), expiresAt],
  );
}

// Rows first, then the update: in one step, the plan could evaluate a condition with a limit several times.
const claim = `with due as materialized (
    select e.id from pgreflect_queue.emails e where e.due_at <= $1::timestamptz and not exists (
      select from pgreflect_queue.emails o where o.user_id = e.user_id and o.due_at <= $1::timestamptz and o.id < e.id
    )
    order by e.due_at, e.id limit $3::integer for update skip locked
  )
  update pgreflect_queue.emails e set attempts = e.attempts + 1, due_at = $2::timestamptz
  from due where e.id = due.id
  returning e.id::text as id, e.message, e.user_id::text as "userId", e.attempts, e.expires_at as "expiresAt",
    ${isSuppressedSql(
      '(select d.recipient_hash from pgreflect_queue.deliveries d where d.id = e.delivery_id)',
      '$1::timestamptz',
    )} as "isSuppressed"`;

/**
 * Claims due emails, oldest first. Of several to one user, only the oldest: the newest has the valid code and must
 * arrive last.
 *
 * @param leaseMs Length of the lease.
 * @returns At most `limit`.
 */
export async function claimEmails(
  database: Queryable,
  { now, leaseMs, limit }: { readonly now: number; readonly leaseMs: number; readonly limit: number },
): Promise<readonly ClaimedEmail[]> {
  const rows = await database.query(claim, [new Date(now), new Date(now + leaseMs), limit]);
  return (rows as unknown as readonly OutboxRow[]).map((row) => ({ ...row, expiresAt: row.expiresAt.getTime() }));
}

type OutboxRow = Omit<ClaimedEmail, 'expiresAt'> & { readonly expiresAt: Date };

const removeWithOutcome = `with ids as (
    delete from pgreflect_queue.emails e where e.id = $5::bigint returning e.delivery_id, e.attempts
  )
  ${setOutcome}`;

/** Removes an email that was sent or given up, and notes the outcome. @param now Milliseconds since the epoch. */
export async function removeEmail(
  database: Queryable,
  { id }: ClaimedEmail,
  outcome: DeliveryOutcome,
  now: number,
): Promise<void> {
  await database.query(removeWithOutcome, [...outcomeValues(outcome, now), id]);
}

interface OutboxState {
  readonly waiting: number;
  /** Age of the oldest one; 0 for none. */
  readonly oldestSeconds: number;
}

/** Reads the state. @param now Milliseconds since the epoch. */
export async function readOutboxState(database: Queryable, now: number): Promise<OutboxState> {
  const [row] = await database.query(
    `select count(*)::integer as waiting,
      coalesce(extract(epoch from $1::timestamptz - min(e.created_at)), 0)::double precision as "oldestSeconds"
    from pgreflect_queue.emails e`,
    [new Date(now)],
  );
  return row as unknown as OutboxState;
}

const postponeWithOutcome = `with ids as (
    update pgreflect_queue.emails e set due_at = $7::timestamptz
    where e.id = $5::bigint and e.attempts = $6::integer returning e.delivery_id, e.attempts
  )
  ${setOutcome}`;

/** Ends our lease of an email and notes why. @param dueAt When to try again, in milliseconds as `now`. */
export async function postponeEmail(
  database: Queryable,
  { id, attempts }: ClaimedEmail,
  answer: string,
  { dueAt, now }: { readonly dueAt: number; readonly now: number },
): Promise<void> {
  const values = outcomeValues({ state: 'deferred', answer }, now);
  await database.query(postponeWithOutcome, [...values, id, attempts, new Date(dueAt)]);
}
