-- What the clients of a cluster read and write.

-- One row for each write that a client has tried.
create table public.entry (
  id text primary key,
  client text not null,
  number int not null
);
-- Read all the time; nobody changes it.
create table public.item (
  id int primary key,
  name text not null
);
insert into public.item select id, format('item %s', id) from generate_series(1, 1000) as id;
-- One row for each live query, which its writer counts up.
create table public.board (
  id int primary key,
  value int not null
);
insert into public.board select id, 0 from generate_series(1, 4) as id;
-- Rows of two users.
create table public.note (
  id int primary key,
  owner text not null,
  body text not null
);
insert into public.note select id, case id % 2 when 0 then 'ada' else 'bob' end, format('note %s', id) from generate_series(1, 40) as id;
alter table public.note enable row level security;
create policy own on public.note for select to authenticated using (owner = current_setting('request.jwt.claims')::json ->> 'name');

grant select on public.item, public.note to anon, authenticated;
grant select, insert on public.entry to authenticated;
grant select, update on public.board to authenticated;
comment on schema public is '@graphql({"inflect_names": true})';
