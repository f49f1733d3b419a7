create view public.my_posts with (security_invoker = true) as
  select id, club_id, title from public.posts where author_id = auth.uid();
