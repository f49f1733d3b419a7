-- Emails that are stored with the change that caused them and sent after it (src/email/outbox/outbox.ts), in a schema of their own:
-- only the gateway may read it.

-- missing: schema pgreflect_queue
create schema pgreflect_queue;

-- missing: table pgreflect_queue.emails
create table pgreflect_queue.emails (
  id bigint generated always as identity,
  kind text not null,
  -- The user, for the log. Not a reference: an email outlives the user.
  user_id uuid not null,
  -- As src/email/message/message.ts has it. Not `jsonb`, which cannot hold every text.
  message json not null,
  created_at timestamptz not null,
  -- No attempts after this time.
  expires_at timestamptz not null,
  -- Time of the next attempt; during an attempt, the time when other processes may take it over.
  due_at timestamptz not null,
  -- Attempts that have begun.
  attempts integer not null default 0,
  delivery_id bigint,
  constraint emails_pkey primary key (id)
);
create index emails_due_at_idx on pgreflect_queue.emails (due_at);
create index emails_delivery_id_idx on pgreflect_queue.emails (delivery_id);
alter table pgreflect_queue.emails enable row level security;

-- The delivery status of every email (src/email/outbox/deliveries.ts), and the addresses that get none for a while
-- (src/email/outbox/suppressed.ts). Neither table has links, codes or texts of emails.

-- missing: table pgreflect_queue.deliveries
create table pgreflect_queue.deliveries (
  id bigint generated always as identity,
  kind text not null,
  -- Not a reference: a delivery outlives the user. Null: a test email of an operator.
  user_id uuid,
  -- As `mailer_deliveries_recipients` says.
  recipient text,
  -- SHA-256 of the address, as addresses are compared: events of mail services are about addresses.
  recipient_hash bytea not null,
  locale text,
  -- Version of the stored configuration with the templates.
  template_version bigint not null,
  state text not null,
  attempts integer not null default 0,
  -- What the mail server or service answered last: codes, and a sentence without addresses.
  answer text,
  -- What a mail service told later: `delivered`, `bounced`, `complained`.
  event text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  sent_at timestamptz,
  -- Header `Message-ID`, without the brackets, or the id of the service that took it.
  message_id text,
  constraint deliveries_pkey primary key (id),
  constraint deliveries_state_check check (state in ('queued', 'sent', 'captured', 'deferred', 'failed', 'suppressed'))
);
create index deliveries_created_at_idx on pgreflect_queue.deliveries (created_at);
create index deliveries_user_id_idx on pgreflect_queue.deliveries (user_id, id);
create index deliveries_state_idx on pgreflect_queue.deliveries (state, id);
create index deliveries_message_id_idx on pgreflect_queue.deliveries (message_id);
create index deliveries_recipient_hash_idx on pgreflect_queue.deliveries (recipient_hash);
alter table pgreflect_queue.deliveries enable row level security;

-- missing: table pgreflect_queue.suppressed
create table pgreflect_queue.suppressed (
  -- SHA-256 of the address.
  recipient_hash bytea not null,
  -- As `mailer_deliveries_recipients` says.
  recipient text,
  user_id uuid,
  -- `bounced` or `complained`
  reason text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  constraint suppressed_pkey primary key (recipient_hash)
);
create index suppressed_expires_at_idx on pgreflect_queue.suppressed (expires_at);
alter table pgreflect_queue.suppressed enable row level security;
