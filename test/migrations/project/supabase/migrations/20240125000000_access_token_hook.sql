create function public.access_token_hook(event jsonb) returns jsonb language sql stable as $$
  select jsonb_set(event, '{claims,club_count}', to_jsonb((
    select count(*) from public.members m where m.user_id = (event ->> 'user_id')::uuid)))
$$;
grant usage on schema public to supabase_auth_admin;
grant execute on function public.access_token_hook to supabase_auth_admin;
revoke execute on function public.access_token_hook from authenticated, anon, public;
grant select on public.members to supabase_auth_admin;
create policy "The hook counts" on public.members for select to supabase_auth_admin using (true);
