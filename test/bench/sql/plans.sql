-- What plans are compared on: reviews of items of authors in cities of countries of regions. Nothing is random.
-- plans.fill(n) makes n items and n reviews anew, plans.fill_events(n) n events of very uneven kinds.
create schema plans;
comment on schema plans is '@graphql({"inflect_names": true, "max_rows": 1000})';

create table plans.region (
  id   int primary key,
  name text not null
);

create table plans.country (
  id        int primary key,
  region_id int not null references plans.region (id),
  name      text not null
);

create table plans.city (
  id         int primary key,
  country_id int not null references plans.country (id),
  name       text not null
);

create table plans.author (
  id      int primary key,
  city_id int not null references plans.city (id),
  name    text not null
);

create table plans.item (
  id           int primary key,
  author_id    int not null references plans.author (id),
  title        text not null,
  score        int not null,
  published_at timestamptz not null
);
comment on table plans.item is '@graphql({"totalCount": {"enabled": true}})';

create table plans.review (
  id      int primary key,
  item_id int not null references plans.item (id),
  body    text not null
);

create index on plans.country (region_id);
create index on plans.city (country_id);
create index on plans.author (city_id);

create table plans.event (
  id          int primary key,
  kind        text not null,
  happened_at timestamptz not null,
  title       text not null
);
comment on table plans.event is '@graphql({"totalCount": {"enabled": true}})';

create index on plans.event (kind);
create index on plans.event (happened_at);

-- Checks of foreign keys are off, and the large tables have their indexes once they are full: minutes less for 10 million rows.
create procedure plans.fill(n int)
language plpgsql
set session_replication_role = replica
as $$
begin
  truncate plans.review, plans.item, plans.author, plans.city, plans.country, plans.region;
  drop index if exists plans.item_published, plans.item_author, plans.review_item;
  insert into plans.region select i, 'Region ' || i from generate_series(1, 10) as i;
  insert into plans.country select i, 1 + i % 10, 'Country ' || i from generate_series(1, 100) as i;
  insert into plans.city select i, 1 + i % 100, 'City ' || i from generate_series(1, 1000) as i;
  insert into plans.author select i, 1 + i % 1000, 'Author ' || i from generate_series(1, n / 50) as i;
  insert into plans.item
  select i, 1 + i % (n / 50), 'Item number ' || i, (i::bigint * 7919 % 1000)::int,
    timestamptz '2025-01-01 00:00:00+00' + make_interval(mins => (i::bigint * 7919 % 500000)::int)
  from generate_series(1, n) as i;
  insert into plans.review select i, 1 + (i::bigint * 31 % n)::int, 'Review ' || i from generate_series(1, n) as i;
  create index item_published on plans.item (author_id, published_at desc, id);
  create index item_author on plans.item (author_id, id);
  create index review_item on plans.review (item_id, id);
end
$$;

-- Nine of ten are common, one of a hundred thousand is rare, the others are of eight kinds.
create procedure plans.fill_events(n int)
language sql
begin atomic
  insert into plans.event
  select i, case when i % 100000 = 7 then 'rare' when i % 10 <> 3 then 'common' else 'kind ' || i / 10 % 8 end,
    timestamptz '2025-01-01 00:00:00+00' + make_interval(secs => (i::bigint * 7919 % n)::int), 'Event ' || i
  from generate_series(1, n) as i;
end;

-- Everybody sees what has a score; under row level security a policy says the same.
create policy readable on plans.item for select using (score >= 0);
create policy readable on plans.review for select using (body <> '');
create policy readable on plans.author for select using (name <> '');

grant usage on schema plans to anon;
grant select on all tables in schema plans to anon;
