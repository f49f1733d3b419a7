create function public.audit_post() returns trigger language plpgsql security definer set search_path = public as $$
begin
  insert into audit (what) values (jsonb_build_object('post', old.id, 'by', auth.uid()));
  return old;
end $$;
create trigger posts_audit after delete on public.posts for each row execute function public.audit_post();
