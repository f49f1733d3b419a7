create function public.is_member(club uuid) returns boolean language sql stable security definer set search_path = '' as $$
  select exists (select from public.members m where m.club_id = club and m.user_id = auth.uid())
$$;
create policy "Members see their club" on public.clubs for select to authenticated using (public.is_member(id));
create policy "Members see each other" on public.members for select to authenticated using (public.is_member(club_id));
create policy "Users leave" on public.members for delete to authenticated using (user_id = auth.uid());
