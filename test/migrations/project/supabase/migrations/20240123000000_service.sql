create table public.audit (id bigserial primary key, at timestamptz default now(), what jsonb not null);
alter table public.audit enable row level security;
create policy "Servers alone" on public.audit for all using (auth.role() = 'service_role');
