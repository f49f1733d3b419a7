-- Tables of Supabase Auth that its dumps copy into, and that nothing here reads: single sign-on, OAuth server.

-- missing: table auth.instances
create table auth.instances (
  id uuid not null,
  uuid uuid,
  raw_base_config text,
  created_at timestamptz,
  updated_at timestamptz,
  constraint instances_pkey primary key (id)
);
alter table auth.instances enable row level security;
comment on table auth.instances is 'pgreflect init --supabase: stored, not served';

-- missing: table auth.sso_providers
create table auth.sso_providers (
  id uuid not null,
  resource_id text,
  created_at timestamptz,
  updated_at timestamptz,
  disabled boolean,
  constraint sso_providers_pkey primary key (id)
);
alter table auth.sso_providers enable row level security;
comment on table auth.sso_providers is 'pgreflect init --supabase: stored, not served';

-- missing: table auth.sso_domains
create table auth.sso_domains (
  id uuid not null,
  sso_provider_id uuid not null,
  domain text not null,
  created_at timestamptz,
  updated_at timestamptz,
  constraint sso_domains_pkey primary key (id)
);
alter table auth.sso_domains enable row level security;
comment on table auth.sso_domains is 'pgreflect init --supabase: stored, not served';

-- missing: table auth.saml_providers
create table auth.saml_providers (
  id uuid not null,
  sso_provider_id uuid not null,
  entity_id text not null,
  metadata_xml text not null,
  metadata_url text,
  attribute_mapping jsonb,
  created_at timestamptz,
  updated_at timestamptz,
  name_id_format text,
  constraint saml_providers_pkey primary key (id)
);
alter table auth.saml_providers enable row level security;
comment on table auth.saml_providers is 'pgreflect init --supabase: stored, not served';

-- missing: table auth.saml_relay_states
create table auth.saml_relay_states (
  id uuid not null,
  sso_provider_id uuid not null,
  request_id text not null,
  for_email text,
  redirect_to text,
  created_at timestamptz,
  updated_at timestamptz,
  flow_state_id uuid,
  constraint saml_relay_states_pkey primary key (id)
);
alter table auth.saml_relay_states enable row level security;
comment on table auth.saml_relay_states is 'pgreflect init --supabase: stored, not served';

-- missing: table auth.oauth_clients
create table auth.oauth_clients (
  id uuid not null,
  client_secret_hash text,
  registration_type text not null,
  redirect_uris text not null,
  grant_types text not null,
  client_name text,
  client_uri text,
  logo_uri text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  client_type text not null default 'confidential',
  token_endpoint_auth_method text,
  constraint oauth_clients_pkey primary key (id)
);
alter table auth.oauth_clients enable row level security;
comment on table auth.oauth_clients is 'pgreflect init --supabase: stored, not served';

-- missing: table auth.oauth_authorizations
create table auth.oauth_authorizations (
  id uuid not null,
  authorization_id text not null,
  client_id uuid not null,
  user_id uuid,
  redirect_uri text not null,
  scope text not null,
  state text,
  resource text,
  code_challenge text,
  code_challenge_method text,
  response_type text not null default 'code',
  status text not null default 'pending',
  authorization_code text,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  approved_at timestamptz,
  nonce text,
  constraint oauth_authorizations_pkey primary key (id)
);
alter table auth.oauth_authorizations enable row level security;
comment on table auth.oauth_authorizations is 'pgreflect init --supabase: stored, not served';

-- missing: table auth.oauth_consents
create table auth.oauth_consents (
  id uuid not null,
  user_id uuid not null,
  client_id uuid not null,
  scopes text not null,
  granted_at timestamptz not null default now(),
  revoked_at timestamptz,
  constraint oauth_consents_pkey primary key (id)
);
alter table auth.oauth_consents enable row level security;
comment on table auth.oauth_consents is 'pgreflect init --supabase: stored, not served';
