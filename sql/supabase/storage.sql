-- What migrations name of Supabase Storage. Nothing serves it: buckets, and policies on objects, are stored only.
create schema storage;
comment on schema storage is 'pgreflect init --supabase: stored, not served';
create type storage.buckettype as enum ('STANDARD', 'ANALYTICS', 'VECTOR');
create table storage.buckets (
  id text not null,
  name text not null,
  owner uuid,
  created_at timestamptz default now(),
  updated_at timestamptz default now(),
  public boolean default false,
  avif_autodetection boolean default false,
  file_size_limit bigint,
  allowed_mime_types text[],
  owner_id text,
  type storage.buckettype not null default 'STANDARD',
  constraint buckets_pkey primary key (id)
);
create unique index bname on storage.buckets (name);
alter table storage.buckets enable row level security;
create table storage.objects (
  id uuid not null default gen_random_uuid(),
  bucket_id text,
  name text,
  owner uuid,
  created_at timestamptz default now(),
  updated_at timestamptz default now(),
  last_accessed_at timestamptz default now(),
  metadata jsonb,
  path_tokens text[] generated always as (string_to_array(name, '/')) stored,
  version text,
  owner_id text,
  user_metadata jsonb,
  constraint objects_pkey primary key (id),
  constraint "objects_bucketId_fkey" foreign key (bucket_id) references storage.buckets (id)
);
create unique index bucketid_objname on storage.objects (bucket_id, name);
alter table storage.objects enable row level security;
create function storage.foldername(name text) returns text[] language sql immutable set search_path = pg_catalog, pg_temp
  as $body$ select trim_array(string_to_array($1, '/'), 1) $body$;
create function storage.filename(name text) returns text language sql immutable set search_path = pg_catalog, pg_temp
  as $body$ select reverse(split_part(reverse($1), '/', 1)) $body$;
create function storage.extension(name text) returns text language sql immutable set search_path = pg_catalog, pg_temp
  as $body$ select reverse(split_part(split_part(reverse($1), '/', 1), '.', 1)) $body$;
