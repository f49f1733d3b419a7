-- What live queries of the bench read: 1,000 rooms of 20 messages, each caller under a policy.
drop schema if exists live cascade;
create schema live;
comment on schema live is '@graphql({"inflect_names": true})';
create table live.message (
  id   int primary key,
  room int not null,
  n    int not null,
  body text not null
) with (fillfactor = 50);
insert into live.message
select i, 1 + i % 1000, 0, 'Message ' || i || ': ' || md5(i::text) from generate_series(1, 20000) as i;
create index on live.message (room, id);
alter table live.message enable row level security;
create policy members on live.message for select to authenticated
  using (room = ((select current_setting('request.jwt.claims'))::jsonb ->> 'room')::int);
create table live.entry (id int primary key, n int not null) with (fillfactor = 50);
insert into live.entry select i, 0 from generate_series(1, 10000) as i;
grant usage on schema live to anon, authenticated;
grant select on live.message, live.entry to authenticated;
grant select, update on live.entry to anon;
