create table public.members (
  club_id uuid not null references public.clubs on delete cascade,
  user_id uuid not null default auth.uid() references public.profiles on delete cascade,
  role public.club_role not null default 'member',
  primary key (club_id, user_id)
);
create index on public.members (user_id);
alter table public.members enable row level security;
