create table public.profiles (
  id uuid primary key references auth.users on delete cascade,
  email text,
  full_name text,
  updated_at timestamptz not null default now()
);
alter table public.profiles enable row level security;
create policy "Everybody who is signed in sees profiles" on public.profiles for select to authenticated using (true);
create policy "Users change their own profile" on public.profiles for update using ((select auth.uid()) = id);
