create index posts_title_trgm on public.posts using gin (title extensions.gin_trgm_ops);
create function public.search_posts(term text) returns setof public.posts language sql stable as $$
  select * from public.posts where title ilike '%' || term || '%' order by id
$$;
