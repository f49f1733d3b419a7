/**
 * Delivery status of each email, as rows for the operator: kind, user, state, attempts and the last answer. Never a token,
 * link, code or text of an email; the address as far as the configuration says.
 */
import { createHash } from 'node:crypto';
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import type { EmailKind } from '../../config/auth/email-kinds.ts';
import { isHookEmail, type OutgoingEmail } from '../message/hook-email.ts';
import { maskAddress } from '../message/shown-address.ts';

/** All states; the last four are final. */
export const deliveryStates = ['queued', 'deferred', 'sent', 'captured', 'failed', 'suppressed'] as const;

type DeliveryState = (typeof deliveryStates)[number];

/** A decided email. */
export interface EmailFacts {
  readonly kind: EmailKind;
  /** Null: the test email of an operator. */
  readonly userId: string | null;
  readonly to: string;
  /** Without angle brackets; null for an email without one. */
  readonly messageId: string | null;
  /** Language tag of its texts; null: unknown, or a hook writes them. */
  readonly locale: string | null;
}

/** Its delivery status. */
export interface DeliveryOutcome {
  readonly state: DeliveryState;
  /** Null without an answer. */
  readonly answer: string | null;
  /** The id that a mail service gave it, instead of our own. */
  readonly messageId?: string | null;
}

/** How the rows are written. */
export interface DeliverySettings {
  readonly config: Pick<AuthConfig, 'mailer_deliveries_recipients'>;
  readonly version: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The facts of an email that is sent or stored. */
export function deliveryOf(message: OutgoingEmail, userId: string | null): EmailFacts {
  const { kind } = message;
  if (isHookEmail(message))
    return { kind, userId, to: String(message.payload.user.email ?? ''), messageId: null, locale: null };
  const messageId = message.messageId.replace(/^<|>$/g, '');
  return { kind, userId, to: message.to, messageId, locale: message.locale || null };
}

/** The key of an address, as addresses are compared. */
export function hashRecipient(address: string): Buffer {
  return createHash('sha256').update(address.trim().toLowerCase()).digest();
}

/** `ana@example.com` -> `a***@example.com`; null where the configuration keeps no addresses. */
export function shownRecipient(address: string, setting: AuthConfig['mailer_deliveries_recipients']): string | null {
  if (setting === 'none') return null;
  if (setting === 'full') return address;
  return maskAddress(address);
}

/** Columns of a new row, whose values `newDelivery` makes: `$1` to `$12`. */
export const insertDelivery = `insert into pgreflect_queue.deliveries
    (kind, user_id, recipient, recipient_hash, template_version, message_id, state, answer, attempts, created_at, updated_at, sent_at, locale)
  values ($1, $2::uuid, $3, $4::bytea, $5::bigint, $6, $7, $8, $9::integer, $10::timestamptz, $10::timestamptz, $11::timestamptz, $12)`;

/** The values of `insertDelivery`. */
export function newDelivery(
  { kind, userId, to, messageId, locale }: EmailFacts,
  outcome: DeliveryOutcome,
  { config, version, now }: DeliverySettings,
): readonly unknown[] {
  const { state, answer } = outcome;
  const isTried = state === 'sent' || state === 'captured' || state === 'failed';
  return [
    kind,
    userId,
    shownRecipient(to, config.mailer_deliveries_recipients),
    hashRecipient(to),
    version,
    outcome.messageId ?? messageId,
    state,
    answer,
    isTried ? 1 : 0,
    new Date(now),
    state === 'sent' ? new Date(now) : null,
    locale,
  ];
}

/** Sets the outcome of the deliveries in `ids`; `$1` state, `$2` answer, `$3` id of the message, `$4` now. */
export const setOutcome = `update pgreflect_queue.deliveries d
  set state = $1, answer = case when $1 in ('sent', 'captured') then $2 else coalesce($2, d.answer) end, message_id = coalesce($3, d.message_id), updated_at = $4::timestamptz,
    sent_at = case when $1 = 'sent' then $4::timestamptz end, attempts = ids.attempts
  from ids where d.id = ids.delivery_id`;

/** The values of `setOutcome`. */
export function outcomeValues({ state, answer, messageId = null }: DeliveryOutcome, now: number): readonly unknown[] {
  return [state, answer, messageId, new Date(now)];
}
