-- What the cases of related rows, groups, JSON and texts read: 1,000 cities, 20,000 authors, 1,000,000 items of 100 kinds, 1,000,000
-- reviews, 200,000 replies. Rows are spread by a hash, so that counts differ; nothing is random.
create schema related;
comment on schema related is '@graphql({"inflect_names": true, "max_rows": 1000})';

create table related.city (
  id   int primary key,
  name text not null
);

create table related.author (
  id      int primary key,
  city_id int not null,
  name    text not null
);

create table related.item (
  id           int primary key,
  author_id    int not null,
  kind         int not null,
  title        text not null,
  score        int not null,
  published_at timestamptz not null,
  attributes   jsonb not null,
  search       tsvector not null
);
comment on table related.item is '@graphql({"aggregate": {"enabled": true}})';
-- For PostGraphile, which filters by JSON only where it is told to.
comment on column related.item.attributes is '@behavior +attribute:filterBy';

create table related.review (
  id      int primary key,
  item_id int not null,
  rating  int not null
);

create table related.reply (
  id        int primary key,
  review_id int not null,
  author    text not null
);

insert into related.city select i, 'City ' || i from generate_series(1, 1000) as i;
insert into related.author select i, 1 + i % 1000, 'Author ' || i from generate_series(1, 20000) as i;
insert into related.item
select i, 1 + (hashint4(i) & 2147483647) % 20000, 1 + i % 100, 'Item number ' || i, i * 31 % 1000,
  timestamptz '2024-01-01 00:00:00+00' + make_interval(mins => (i::bigint * 7919 % 1000000)::int),
  jsonb_build_object('model', i::bigint * 7919 % 1000, 'colour', i % 7, 'care', jsonb_build_object('dishwasher', i % 2 = 0)),
  to_tsvector('simple', 'item' || repeat(' word' || i % 5000, 1 + i % 3) || ' word' || i / 7 % 5000)
from generate_series(1, 1000000) as i;
insert into related.review
select i, 1 + (hashint4(-i) & 2147483647) % 1000000, 1 + i % 5 from generate_series(1, 1000000) as i;
insert into related.reply
select i, 1 + (hashint4(i) & 2147483647) % 1000000, 'Author ' || i % 5000 from generate_series(1, 200000) as i;

-- Once the tables are full, because that takes half the time.
alter table related.author add foreign key (city_id) references related.city (id);
alter table related.item add foreign key (author_id) references related.author (id);
alter table related.review add foreign key (item_id) references related.item (id);
alter table related.reply add foreign key (review_id) references related.review (id);
create index on related.city (name);
create index on related.author (city_id, id);
create index on related.author (name);
create index on related.item (author_id, id);
create index on related.item (author_id, published_at desc, id);
create index on related.item (kind, published_at) include (score);
create index on related.item using gin (attributes jsonb_path_ops);
create index on related.item using gin (search);
create index on related.review (item_id, id);
create index on related.reply (review_id);
create index on related.reply (author);
grant usage on schema related to anon;
grant select on all tables in schema related to anon;
