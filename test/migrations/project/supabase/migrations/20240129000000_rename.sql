alter table public.posts rename column body to content;
alter table public.posts add column meta jsonb not null default '{}', add column labels text[] not null default '{}';
