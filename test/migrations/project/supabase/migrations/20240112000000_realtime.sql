alter publication supabase_realtime add table public.posts;
alter publication supabase_realtime add table public.comments;
