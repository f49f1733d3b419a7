-- What plans are compared on: reviews of items of authors in cities of countries of regions. Nothing is random.
-- plans.fill(n) makes n items and n reviews anew.
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
create index on plans.item (author_id, published_at desc, id);
create index on plans.item (author_id, id);
create index on plans.review (item_id, id);

create procedure plans.fill(n int)
language sql
begin atomic
  delete from plans.review;
  delete from plans.item;
  delete from plans.author;
  delete from plans.city;
  delete from plans.country;
  delete from plans.region;
  insert into plans.region select i, 'Region ' || i from generate_series(1, 10) as i;
  insert into plans.country select i, 1 + i % 10, 'Country ' || i from generate_series(1, 100) as i;
  insert into plans.city select i, 1 + i % 100, 'City ' || i from generate_series(1, 1000) as i;
  insert into plans.author select i, 1 + i % 1000, 'Author ' || i from generate_series(1, n / 50) as i;
  insert into plans.item
  select i, 1 + i % (n / 50), 'Item number ' || i, (i::bigint * 7919 % 1000)::int,
    timestamptz '2025-01-01 00:00:00+00' + make_interval(mins => (i::bigint * 7919 % 500000)::int)
  from generate_series(1, n) as i;
  insert into plans.review select i, 1 + (i::bigint * 31 % n)::int, 'Review ' || i from generate_series(1, n) as i;
end;

-- Everybody sees what has a score; under row level security a policy says the same.
create policy readable on plans.item for select using (score >= 0);
create policy readable on plans.review for select using (body <> '');
create policy readable on plans.author for select using (name <> '');

grant usage on schema plans to anon;
grant select on all tables in schema plans to anon;
