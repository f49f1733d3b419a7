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
  constraint emails_pkey primary key (id)
);
create index emails_due_at_idx on pgreflect_queue.emails (due_at);
alter table pgreflect_queue.emails enable row level security;
