/** Notes events of a mail service at their deliveries, and suppresses addresses that bounced or complained. */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import { type EventsConfig, eventsServiceOf } from '../../config/auth/auth-events.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import { hashRecipient, shownRecipient } from '../outbox/deliveries.ts';
import { shownAnswer } from '../transport/smtp-failure.ts';
import { isSes } from '../transport/smtp-transport.ts';
import type { MailEvent, VerifiedEvents } from './mail-event.ts';

/** How long an address stays suppressed. */
const suppressedDays = 30;

/** Most events of a request that are looked at; services send fewer. */
const maxEvents = 2000;

/** Limits how often a request counts; rows are deleted a day later with those of other limits. */
const takeId = `insert into auth.pgreflect_rate_limits (name, tokens, updated_at)
  values ('window:mail_event:' || pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to($1, 'UTF8')), 'hex'), 1, $2::timestamptz)
  on conflict (name) do nothing returning name`;

// A late delivery notice changes nothing after a bounce or complaint.
const noteEvent = `update pgreflect_queue.deliveries d
  set event = $3, state = case when $3 in ('bounced', 'failed') then 'failed' else d.state end,
    answer = coalesce($4, d.answer), updated_at = $5::timestamptz
  where d.message_id = any ($1::text[]) and d.recipient_hash = $2::bytea
    and ($3 <> 'delivered' or d.event is null) and d.state in ('sent', 'failed')`;

// Only addresses that got an email from here: others are none of ours. Services read the address of some bounces from the
// answer of a mail server, which may name any. So an email that went to another address tells nothing of this one ($5).
// Where the service gives ids to all our emails, other ids are of other senders that share its account ($6).
const suppress = `insert into pgreflect_queue.suppressed as s (recipient_hash, recipient, user_id, reason, created_at, expires_at)
  select $1::bytea, $2, d.user_id, $3, $4::timestamptz, $4::timestamptz + interval '${suppressedDays} days'
  from pgreflect_queue.deliveries d where d.recipient_hash = $1::bytea and (d.message_id = any ($5::text[]) or not $6::boolean
    and not exists (select from pgreflect_queue.deliveries o where o.message_id = any ($5::text[]) and o.recipient_hash <> $1::bytea))
  order by d.id desc limit 1
  on conflict (recipient_hash) do update
    set reason = excluded.reason, created_at = excluded.created_at, expires_at = excluded.expires_at`;

type EventSettings = EventsConfig &
  Pick<AuthConfig, 'mailer_deliveries_recipients' | 'mailer_suppress_bounced' | 'smtp_host'>;

/**
 * Notes the events of a request once.
 *
 * @param tx The transaction of the request: a failure lets the service repeat it.
 * @param now Milliseconds since the epoch.
 * @returns Whether they were new.
 */
export async function applyEvents(
  tx: Queryable,
  { id, events }: VerifiedEvents,
  config: EventSettings,
  now: number,
): Promise<boolean> {
  const time = new Date(now);
  if ((await tx.query(takeId, [id, time])).length === 0) return false;
  for (const event of events.slice(0, maxEvents)) await apply(tx, event, config, time);
  return true;
}

async function apply(
  tx: Queryable,
  { kind, messageIds, address, answer }: MailEvent,
  config: EventSettings,
  time: Date,
): Promise<void> {
  const hash = hashRecipient(address);
  await tx.query(noteEvent, [messageIds, hash, kind, answer === null ? null : shownAnswer(answer, address), time]);
  if (!config.mailer_suppress_bounced || (kind !== 'bounced' && kind !== 'complained')) return;
  const shown = shownRecipient(address.trim(), config.mailer_deliveries_recipients);
  const service = eventsServiceOf(config);
  const isSender = config.mailer_transport === service || (service === 'ses' && isSes(config.smtp_host));
  await tx.query(suppress, [hash, shown, kind, time, messageIds, isSender]);
}
