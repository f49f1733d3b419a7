-- A list that everybody shares: anyone adds and ticks entries, and only what is done can be removed.
create table todo (
  id    bigint generated always as identity primary key,
  title text not null check (length(title) between 1 and 200),
  done  boolean not null default false
);

alter table todo enable row level security;
create policy everybody_reads on todo for select to anon using (true);
create policy everybody_adds on todo for insert to anon with check (true);
create policy everybody_ticks on todo for update to anon using (true);
create policy done_ones_go on todo for delete to anon using (done);
grant select, insert (title), update (done), delete on todo to anon;

comment on schema public is '@graphql({"inflect_names": true})';
