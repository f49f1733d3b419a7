-- What a hosted Supabase project has before its first migration: roles, owners, schemas, rights. Run by the superuser supabase_admin.
-- The tables of auth (auth-original.sql) and of what else Supabase serves come after it, with the second part.
create role anon nologin noinherit;
create role authenticated nologin noinherit;
create role service_role nologin noinherit bypassrls;
create role authenticator login noinherit password 'test';
grant anon, authenticated, service_role to authenticator;
create role dashboard_user createdb createrole replication;
create role supabase_auth_admin login noinherit createrole password 'test';
create role supabase_storage_admin login noinherit createrole password 'test';
create role supabase_realtime_admin nologin noinherit;
create role supabase_replication_admin login replication password 'test';
create role supabase_read_only_user login bypassrls password 'test';
-- No superuser: what people log in as.
create role postgres login createdb createrole replication bypassrls password 'test';
grant anon, authenticated, service_role, authenticator to postgres with admin option;
grant pg_monitor, pg_read_all_data, pg_signal_backend to postgres;
grant pg_read_all_data to supabase_read_only_user;
grant authenticator to supabase_storage_admin;
alter role authenticator set statement_timeout = '8s';
alter role authenticator set lock_timeout = '8s';
alter role anon set statement_timeout = '3s';
alter role authenticated set statement_timeout = '8s';
alter role postgres set search_path = "$user", public, extensions;
alter role supabase_auth_admin set search_path = auth;
alter database postgres owner to postgres;

create schema extensions;
create extension "uuid-ossp" schema extensions;
create extension pgcrypto schema extensions;
create extension pg_stat_statements schema extensions;
grant usage on schema extensions to postgres, anon, authenticated, service_role;
grant all on schema extensions to postgres, dashboard_user;
grant usage on schema public to postgres, anon, authenticated, service_role;
alter default privileges in schema public grant all on tables to postgres, anon, authenticated, service_role;
alter default privileges in schema public grant all on functions to postgres, anon, authenticated, service_role;
alter default privileges in schema public grant all on sequences to postgres, anon, authenticated, service_role;
alter default privileges for role postgres in schema public grant all on tables to postgres, anon, authenticated, service_role;
alter default privileges for role postgres in schema public grant all on functions to postgres, anon, authenticated, service_role;
alter default privileges for role postgres in schema public grant all on sequences to postgres, anon, authenticated, service_role;
create publication supabase_realtime;
alter publication supabase_realtime owner to postgres;
