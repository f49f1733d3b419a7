-- What belongs to a sign-in that is under way at a provider, beside the tables of Supabase Auth.

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
