-- The delivery status of every email (src/email/outbox/deliveries.ts), and the addresses that get none for a while
-- (src/email/outbox/suppressed.ts). Neither table has links, codes or texts of emails.

-- missing: table pgreflect_queue.deliveries
create table pgreflect_queue.deliveries (
  id bigint generated always as identity,
  kind text not null,
  -- Not a reference: a delivery outlives the user.
  user_id uuid not null,
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
  constraint deliveries_state_check check (state in ('queued', 'sent', 'deferred', 'failed', 'suppressed'))
);
create index deliveries_created_at_idx on pgreflect_queue.deliveries (created_at);
create index deliveries_user_id_idx on pgreflect_queue.deliveries (user_id, id);
create index deliveries_state_idx on pgreflect_queue.deliveries (state, id);
create index deliveries_message_id_idx on pgreflect_queue.deliveries (message_id);
alter table pgreflect_queue.deliveries enable row level security;

-- missing: column pgreflect_queue.emails.delivery_id
alter table pgreflect_queue.emails add column delivery_id bigint;

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
