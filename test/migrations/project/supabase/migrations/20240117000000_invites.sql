create table public.invites (
  id uuid primary key default extensions.uuid_generate_v4(),
  club_id uuid not null references public.clubs on delete cascade,
  email text not null,
  token text not null default encode(extensions.gen_random_bytes(16), 'hex')
);
alter table public.invites enable row level security;
create policy "Invited people see their invitation" on public.invites for select using (email = auth.email());
