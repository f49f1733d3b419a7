-- What the management API stores: overrides of the auth configuration, and the hashes of its access tokens.

-- missing: table auth.pgreflect_config
create table auth.pgreflect_config (
  project_ref text not null,
  -- Every process compares this number at the start of each auth request, so a lookup by the key must be enough.
  version bigint not null,
  values jsonb not null,
  updated_at timestamptz not null,
  updated_by text not null,
  constraint pgreflect_config_pkey primary key (project_ref)
);
alter table auth.pgreflect_config enable row level security;
comment on table auth.pgreflect_config is 'Overrides of the auth configuration, written by the management API. Holds secrets.';

-- missing: table auth.pgreflect_config_versions
create table auth.pgreflect_config_versions (
  project_ref text not null,
  version bigint not null,
  values jsonb not null,
  -- Names of the fields that this version changed.
  changed text[] not null,
  updated_at timestamptz not null,
  updated_by text not null,
  constraint pgreflect_config_versions_pkey primary key (project_ref, version)
);
alter table auth.pgreflect_config_versions enable row level security;
comment on table auth.pgreflect_config_versions is 'Earlier and present overrides: who changed what, and when. Holds secrets.';

-- missing: table auth.pgreflect_access_tokens
create table auth.pgreflect_access_tokens (
  id uuid not null,
  name text not null,
  -- SHA-256 of the token, which itself is shown once and kept nowhere.
  token_hash bytea not null,
  scopes text[] not null,
  -- Null: valid for every project of this database.
  project_ref text,
  -- Id of the token that made it, or `fixed` for the one of the options; null: the command.
  created_by text,
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  constraint pgreflect_access_tokens_pkey primary key (id),
  constraint pgreflect_access_tokens_token_hash_key unique (token_hash)
);
alter table auth.pgreflect_access_tokens enable row level security;
comment on table auth.pgreflect_access_tokens is 'Access tokens of the management API, as hashes.';
