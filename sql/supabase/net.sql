-- What functions name of pg_net. Nothing sends the requests: they are not even stored, and the id is 0.
create schema net;
comment on schema net is 'pgreflect init --supabase: stored, not served';
create function net.http_post(
  url text, body jsonb default '{}', params jsonb default '{}', headers jsonb default '{"Content-Type": "application/json"}',
  timeout_milliseconds integer default 5000
) returns bigint language plpgsql set search_path = pg_catalog, pg_temp as $body$
begin
  raise notice 'Nothing sends HTTP requests of the database here.';
  return 0;
end $body$;
create function net.http_get(
  url text, params jsonb default '{}', headers jsonb default '{}', timeout_milliseconds integer default 5000
) returns bigint language plpgsql set search_path = pg_catalog, pg_temp as $body$
begin
  raise notice 'Nothing sends HTTP requests of the database here.';
  return 0;
end $body$;
create function net.http_delete(
  url text, params jsonb default '{}', headers jsonb default '{}', timeout_milliseconds integer default 5000,
  body jsonb default null
) returns bigint language plpgsql set search_path = pg_catalog, pg_temp as $body$
begin
  raise notice 'Nothing sends HTTP requests of the database here.';
  return 0;
end $body$;
