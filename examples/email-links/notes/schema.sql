-- Notes: everybody who is signed in keeps some, and sees no others.
create table note (
  id         bigint generated always as identity primary key,
  owner      uuid not null default auth.uid() references auth.users on delete cascade,
  body       text not null check (body <> ''),
  written_at timestamptz not null default now()
);
create index on note (owner);

alter table note enable row level security;
create policy own_notes on note to authenticated using (owner = auth.uid());
grant select, insert, update, delete on note to authenticated;

comment on schema public is '@graphql({"inflect_names": true})';
