create policy "Members listen" on realtime.messages for select to authenticated using (realtime.topic() like 'club:%');
