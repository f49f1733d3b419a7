-- What the bench reads: 1,000 accounts, 50,000 posts, 200,000 comments. Nothing is random.
-- What it writes: entries (inserted), scores (updated), doomed (deleted, and filled again before each load).
comment on schema public is '@graphql({"inflect_names": true, "max_rows": 1000})';

create table account (
  id   int primary key,
  name text not null,
  mail text not null
);

create table post (
  id           int primary key,
  account_id   int not null references account (id),
  title        text not null,
  score        int not null,
  published_at timestamptz not null
);
comment on table post is '@graphql({"totalCount": {"enabled": true}})';

create table comment (
  id      int primary key,
  post_id int not null references post (id),
  author  text not null,
  body    text not null
);

insert into account select i, 'Account ' || i, 'account' || i || '@example.org' from generate_series(1, 1000) as i;
insert into post
select i, 1 + i % 1000, 'Post number ' || i || ' about ' || substr(md5(i::text), 1, 12), i * 7919 % 1000,
  timestamptz '2025-01-01 00:00:00+00' + make_interval(mins => i * 7919 % 500000)
from generate_series(1, 50000) as i;
insert into comment
select i, 1 + i % 50000, 'Author ' || i % 97, 'Comment ' || i || ': ' || md5(i::text) from generate_series(1, 200000) as i;

create table entry (
  id    int generated always as identity primary key,
  title text not null,
  score int not null
);

-- Half of each page is free, so that an update stays on its page however long the load lasts.
create table score (
  id     int primary key,
  points int not null
) with (fillfactor = 50);
insert into score select i, i from generate_series(1, 10000) as i;

create table doomed (
  id    int primary key,
  title text not null
);

create table basket (
  id    bigint generated always as identity primary key,
  title text not null
);

create table basket_line (
  id        bigint generated always as identity primary key,
  basket_id bigint not null references basket (id),
  position  int not null
);
create index on basket_line (basket_id);
-- Not empty: PostgreSQL would plan for that, and keep the plan.
insert into basket (title) select 'Basket ' || i from generate_series(1, 10000) as i;
insert into basket_line (basket_id, position) select 1 + i / 5, 1 + i % 5 from generate_series(0, 49999) as i;

create function add_points(score_id int, amount int) returns int language sql volatile as
  'update score set points = points + amount where id = score_id returning id';

create index on post (account_id, published_at desc, id);
create index on post (account_id, id);
create index on comment (post_id, id);
grant usage on schema public to anon;
grant select on all tables in schema public to anon;
grant insert, update, delete on entry, score, doomed to anon;
grant insert on basket, basket_line to anon;
vacuum analyze;
