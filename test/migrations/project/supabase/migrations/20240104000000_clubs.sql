create type public.club_role as enum ('owner', 'member', 'guest');
create table public.clubs (
  id uuid primary key default uuid_generate_v4(),
  name text not null check (char_length(name) > 1),
  slug text not null unique,
  created_at timestamptz not null default now()
);
alter table public.clubs enable row level security;
