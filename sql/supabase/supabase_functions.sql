-- What triggers name of Database Webhooks. Nothing sends the requests.
create schema supabase_functions;
comment on schema supabase_functions is 'pgreflect init --supabase: stored, not served';
create table supabase_functions.hooks (
  id bigserial,
  hook_table_id integer not null,
  hook_name text not null,
  created_at timestamptz not null default now(),
  request_id bigint,
  constraint hooks_pkey primary key (id)
);
create function supabase_functions.http_request() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $body$
begin
  raise notice 'Nothing sends the requests of Database Webhooks here.';
  return coalesce(new, old);
end $body$;
