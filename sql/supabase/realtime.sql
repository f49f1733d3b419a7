-- What migrations name of Supabase Realtime. Nothing serves it: messages are not sent.
create schema realtime;
comment on schema realtime is 'pgreflect init --supabase: stored, not served';
create table realtime.messages (
  id uuid not null default gen_random_uuid(),
  topic text not null,
  extension text not null,
  payload jsonb,
  event text,
  private boolean default false,
  updated_at timestamp not null default now(),
  inserted_at timestamp not null default now(),
  constraint messages_pkey primary key (id)
);
alter table realtime.messages enable row level security;
create function realtime.topic() returns text language sql stable set search_path = pg_catalog, pg_temp
  as $body$ select nullif(current_setting('realtime.topic', true), '') $body$;
create function realtime.send(payload jsonb, event text, topic text, private boolean default true) returns void
  language plpgsql set search_path = pg_catalog, pg_temp as $body$
begin
  raise notice 'Nothing serves Realtime here: no message is sent.';
end $body$;
create function realtime.broadcast_changes(
  topic_name text, event_name text, operation text, table_name text, table_schema text, new record, old record,
  level text default 'ROW'
) returns void language plpgsql set search_path = pg_catalog, pg_temp as $body$
begin
  raise notice 'Nothing serves Realtime here: no message is sent.';
end $body$;
