create policy "Guests see clubs by name" on public.clubs for select to anon using (slug = 'open');
do $$ begin
  if not exists (select from pg_roles where rolname = 'supabase_auth_admin') then raise exception 'no auth'; end if;
end $$;
