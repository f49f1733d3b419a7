create policy "Admins see all clubs" on public.clubs for select to authenticated
  using ((auth.jwt() -> 'app_metadata' ->> 'role') = 'admin');
