-- Emails that are stored with the change that caused them and sent after it (src/email/outbox/outbox.ts), in a schema of their own:
-- what waits there is nobody's but the gateway's.

-- missing: schema pgreflect_queue
create schema pgreflect_queue;

-- missing: table pgreflect_queue.emails
create table pgreflect_queue.emails (
  id bigint generated always as identity,
  kind text not null,
  -- Whom it is about, for the log. Not a reference: an email outlives the user.
  user_id uuid not null,
  -- As src/email/message.ts has it. Not `jsonb`, which cannot hold every text.
  message json not null,
  created_at timestamptz not null,
  -- After this moment nobody tries any more.
  expires_at timestamptz not null,
  -- When somebody should try, or, while somebody does, when others may take that one for dead.
  due_at timestamptz not null,
  -- Those that have begun.
  attempts integer not null default 0,
  constraint emails_pkey primary key (id)
);
create index emails_due_at_idx on pgreflect_queue.emails (due_at);
alter table pgreflect_queue.emails enable row level security;
