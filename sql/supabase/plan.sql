-- What `init --supabase` has still to do beside the files of this folder, in order. One row per statement.
--
-- $1: JSON with apiRoles (array of names) and authRole (the login of the auth service, which is made after this, or null). $2: the
-- schemas that are made just before. What exists is left as it is: roles and publications of others get nothing.
with made as (
  select m.name from unnest($2::text[]) as m (name)
),
api (list) as (
  select string_agg(quote_ident(r.name), ', ' order by r.name) from json_array_elements_text($1::json -> 'apiRoles') as r (name)
),
step (position, statement) as (
  select 1, format('create role %I nologin noinherit; comment on role %I is %L', w.name, w.name, 'pgreflect init --supabase')
  from unnest(array['postgres', 'dashboard_user', 'supabase_admin', 'supabase_auth_admin', 'supabase_functions_admin',
    'supabase_realtime_admin', 'supabase_storage_admin']) as w (name)
  where not exists (select from pg_catalog.pg_roles r where r.rolname = w.name) and w.name is distinct from $1::json ->> 'authRole'
  union all
  select 2, format('create extension %I schema extensions; comment on extension %I is %L', e.name, e.name, 'pgreflect init --supabase')
  from pg_catalog.pg_available_extensions e
  where e.name in ('pgcrypto', 'uuid-ossp', 'pg_stat_statements') and e.installed_version is null
    and 'extensions' in (select m.name from made m)
  union all
  -- Nothing of these schemas writes for its callers, and row security is on: as on hosted projects, less the rights on tables.
  select 3, format('grant usage on schema %I to %s', m.name, a.list)
  from made m, api a where m.name in ('extensions', 'storage', 'realtime', 'net')
  union all
  select 4, 'create publication supabase_realtime; comment on publication supabase_realtime is ''pgreflect init --supabase'''
  where not exists (select from pg_catalog.pg_publication p where p.pubname = 'supabase_realtime')
  union all
  select 5, format('alter database %I set search_path = "$user", public, extensions', current_database())
  where 'extensions' in (select m.name from made m) and not exists (
    select from pg_catalog.pg_db_role_setting s
    join pg_catalog.pg_database d on d.oid = s.setdatabase and d.datname = current_database()
    cross join unnest(s.setconfig) as c (entry)
    where s.setrole = 0 and starts_with(c.entry, 'search_path='))
)
select s.statement from step s order by s.position, s.statement
