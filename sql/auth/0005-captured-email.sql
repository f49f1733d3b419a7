-- The inbox of a project without a mail server: the newest emails, shared by all processes (src/email/transport/captured-transport.ts).

-- missing: table auth.pgreflect_captured_email
create table auth.pgreflect_captured_email (
  id bigint generated always as identity,
  captured_at timestamptz not null,
  kind text not null,
  sender text not null,
  recipient text not null,
  subject text not null,
  html text not null,
  text text not null,
  -- The whole message as it would be sent.
  source text not null,
  constraint pgreflect_captured_email_pkey primary key (id)
);
alter table auth.pgreflect_captured_email enable row level security;
