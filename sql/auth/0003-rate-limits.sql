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
