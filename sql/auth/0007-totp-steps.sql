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
