-- The nonce that a provider's ID token must contain, so that a token of another sign-in is refused.

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
