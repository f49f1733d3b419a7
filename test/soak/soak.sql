comment on schema public is '@graphql({"inflect_names": true, "introspection": true})';

-- What is asked for. Every value follows from its key, so that answers can be checked without asking the database.
create table public.shelf (
  id int primary key,
  name text not null
);
create table public.book (
  id int primary key,
  shelf_id int not null references public.shelf (id),
  body text not null
);
create index on public.book (shelf_id);
insert into public.shelf select id, format('shelf %s', id) from generate_series(0, 99) as id;
insert into public.book select id, id % 100, format('book %s', id) from generate_series(0, 4999) as id;

-- One row for each client, whom nobody else may see.
create table public.counter (
  owner text primary key,
  value int not null
);
alter table public.counter enable row level security;
create policy own on public.counter to authenticated
  using (owner = current_setting('request.jwt.claims')::json ->> 'sub');

create function public.twice(n int) returns int immutable language sql as 'select n * 2';
create function public.nap(seconds float8) returns text stable language sql
  as $$ select 'slept' from (select pg_catalog.pg_sleep(seconds)) slept $$;

-- What is changed all the time.
create table public.changing (id int primary key);

grant select on public.shelf, public.book to anon, authenticated;
grant select, update on public.counter to authenticated;

-- The hook of access tokens.
create schema app;
create function app.add_plan(event jsonb) returns jsonb stable language sql as $$
  select pg_catalog.jsonb_set(event, '{claims,plan}', pg_catalog.to_jsonb('plan of ' || (event ->> 'user_id')))
$$;
grant usage on schema app to auth_admin;
