create table public.comments (
  id uuid primary key default gen_random_uuid(),
  post_id bigint not null references public.posts on delete cascade,
  author_id uuid not null default auth.uid() references public.profiles on delete cascade,
  parent_id uuid references public.comments on delete cascade,
  body text not null
);
alter table public.comments enable row level security;
create policy "Read where the post is read" on public.comments for select to authenticated
  using (exists (select from public.posts p where p.id = post_id));
create policy "Write own" on public.comments for insert to authenticated with check (author_id = auth.uid());
