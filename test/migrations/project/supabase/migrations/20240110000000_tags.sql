create table public.tags (id serial primary key, label text not null unique);
create table public.post_tags (
  post_id bigint references public.posts on delete cascade,
  tag_id int references public.tags on delete cascade,
  primary key (post_id, tag_id)
);
alter table public.tags enable row level security;
alter table public.post_tags enable row level security;
create policy "Tags are public" on public.tags for select using (true);
create policy "Links of posts" on public.post_tags for select using (exists (select from public.posts p where p.id = post_id));
insert into public.tags (label) values ('news'), ('match'), ('training');
