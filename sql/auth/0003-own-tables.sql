-- What the auth service and the management API store beside the tables of Supabase Auth.

-- Remaining allowances of rate limits, shared by all processes of a deployment. Unlogged: after a crash of the server
-- every bucket is full again, which costs less than writing them all to the log.

-- missing: table auth.pgreflect_rate_limits
create unlogged table auth.pgreflect_rate_limits (
  name text not null,
  -- Fractions of a token are kept, so that a slow refill is not lost to rounding.
  tokens double precision not null,
  updated_at timestamptz not null,
  -- How much of a window each client network has used.
  shares jsonb not null default '{}',
  constraint pgreflect_rate_limits_pkey primary key (name)
);
create index pgreflect_rate_limits_updated_at_idx on auth.pgreflect_rate_limits (updated_at);
alter table auth.pgreflect_rate_limits enable row level security;

-- Overrides of the auth configuration, and the hashes of the access tokens of the management API.

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

-- Which codes of authenticator apps have been used: none is accepted a second time.

-- missing: table auth.pgreflect_totp_steps
create table auth.pgreflect_totp_steps (
  factor_id uuid not null,
  -- Number of the newest step of 30 seconds whose code was accepted; the codes of it and of all before it are used up.
  step bigint not null,
  constraint pgreflect_totp_steps_pkey primary key (factor_id),
  constraint pgreflect_totp_steps_factor_id_fkey foreign key (factor_id) references auth.mfa_factors (id) on delete cascade
);
alter table auth.pgreflect_totp_steps enable row level security;
comment on table auth.pgreflect_totp_steps is 'The newest step whose code was accepted, for each authenticator app.';

-- The nonce that the provider's ID token must contain, so that a token of another sign-in is refused.

-- missing: table auth.pgreflect_provider_nonces
create table auth.pgreflect_provider_nonces (
  client_state_id uuid not null,
  nonce text not null,
  constraint pgreflect_provider_nonces_pkey primary key (client_state_id),
  constraint pgreflect_provider_nonces_client_state_id_fkey foreign key (client_state_id)
    references auth.oauth_client_states (id) on delete cascade
);
alter table auth.pgreflect_provider_nonces enable row level security;
comment on table auth.pgreflect_provider_nonces is 'The nonce of each sign-in that is under way at a provider.';

-- The identity that the exchange of the code links.

-- missing: table auth.pgreflect_pending_identities
create table auth.pgreflect_pending_identities (
  flow_id uuid not null,
  -- As src/auth/providers/external-user.ts describes the user.
  external jsonb not null,
  constraint pgreflect_pending_identities_pkey primary key (flow_id),
  constraint pgreflect_pending_identities_flow_id_fkey foreign key (flow_id) references auth.flow_state (id) on delete cascade
);
alter table auth.pgreflect_pending_identities enable row level security;
comment on table auth.pgreflect_pending_identities is 'Identities of providers that are linked once the session that asked exchanges its code.';

-- Evidence that more than one person has used an address that nobody has proved (src/auth/accounts/claim-account.ts).

-- missing: table auth.pgreflect_unverified_inputs
create table auth.pgreflect_unverified_inputs (
  user_id uuid not null,
  -- `admin`: an admin entered the account, and every proof keeps it. `other`: another request than the account's own sign-up
  -- has sent the newest confirmation. `self`: nobody else came. `withheld`: what a link of the PKCE flow took away, until its verifier gives it back.
  entered_by text not null,
  -- Of `other`: the row of auth.one_time_tokens that proves what the request entered.
  token_id uuid,
  -- Of `self`: the network that the sign-up came from.
  network text,
  flow_id uuid,
  password_hash text,
  user_metadata jsonb,
  constraint pgreflect_unverified_inputs_pkey primary key (user_id),
  constraint pgreflect_unverified_inputs_user_id_fkey foreign key (user_id) references auth.users (id) on delete cascade,
  constraint pgreflect_unverified_inputs_flow_id_fkey foreign key (flow_id) references auth.flow_state (id) on delete cascade,
  constraint pgreflect_unverified_inputs_entered_by_check check (entered_by in ('admin', 'other', 'self', 'withheld'))
);
create index pgreflect_unverified_inputs_flow_id_idx on auth.pgreflect_unverified_inputs (flow_id);
alter table auth.pgreflect_unverified_inputs enable row level security;
comment on table auth.pgreflect_unverified_inputs is 'Accounts without a proved address that an admin has entered, or that several people have asked for.';
-- Pending invitations: only an admin has entered data there.
insert into auth.pgreflect_unverified_inputs (user_id, entered_by)
select u.id, 'admin' from auth.users u
where u.invited_at is not null and u.email_confirmed_at is null and u.phone is null
  and (u.encrypted_password is null or u.encrypted_password = '')
  and not exists (select from auth.identities i where i.user_id = u.id and i.provider <> 'email');

-- missing: table auth.pgreflect_changes
create table auth.pgreflect_changes (
  user_id uuid not null,
  session_id uuid not null,
  constraint pgreflect_changes_pkey primary key (user_id),
  constraint pgreflect_changes_user_id_fkey foreign key (user_id) references auth.users (id) on delete cascade,
  constraint pgreflect_changes_session_id_fkey foreign key (session_id) references auth.sessions (id) on delete cascade
);
create index pgreflect_changes_session_id_idx on auth.pgreflect_changes (session_id);
alter table auth.pgreflect_changes enable row level security;
comment on table auth.pgreflect_changes is 'The session that has asked for the pending change of an address or number. Without it, the change is not sent again.';
