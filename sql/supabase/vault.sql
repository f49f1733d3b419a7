-- What migrations name of Supabase Vault. Nothing encrypts here, so names are stored and secrets are not.
create schema vault;
comment on schema vault is 'pgreflect init --supabase: stored, not served';
create table vault.secrets (
  id uuid not null default gen_random_uuid(),
  name text,
  description text not null default '',
  secret text,
  key_id uuid,
  nonce bytea,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint secrets_pkey primary key (id),
  constraint no_secret check (secret is null)
);
create unique index secrets_name_idx on vault.secrets (name) where name is not null;
alter table vault.secrets enable row level security;
create view vault.decrypted_secrets with (security_barrier) as
  select s.id, s.name, s.description, s.secret, s.secret as decrypted_secret, s.key_id, s.nonce, s.created_at, s.updated_at
  from vault.secrets s;
create function vault.create_secret(
  new_secret text, new_name text default null, new_description text default '', new_key_id uuid default null
) returns uuid language plpgsql set search_path = pg_catalog, pg_temp as $body$
declare
  made uuid;
begin
  raise notice 'Nothing serves Vault here: the name is stored, the secret is not.';
  insert into vault.secrets as s (name, description) values ($2, $3) returning s.id into made;
  return made;
end $body$;
create function vault.update_secret(
  secret_id uuid, new_secret text default null, new_name text default null, new_description text default null,
  new_key_id uuid default null
) returns void language plpgsql set search_path = pg_catalog, pg_temp as $body$
begin
  raise notice 'Nothing serves Vault here: the name is stored, the secret is not.';
  update vault.secrets s set name = coalesce($3, s.name), description = coalesce($4, s.description), updated_at = now()
  where s.id = $1;
end $body$;
