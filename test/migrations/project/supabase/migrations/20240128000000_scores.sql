alter table public.members add column score numeric(8, 2) not null default 0 check (score >= 0);
alter table public.members add column joined date not null default current_date;
