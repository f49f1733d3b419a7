-- Sets `pgreflect.exposed` to the names of the namespaces to expose, for the rest of the transaction: in order, each once, without
-- `$user` and system namespaces. $1: the operator's choice; null: the search path of a new connection of the login role, without our
-- own namespaces and that of the database's extensions. It is split as PostgreSQL does: quoted names as they are, others in lower case.
--
-- This connection's own path is used only if no `alter role` or `alter database` sets one, or if the connection string does: those may
-- have changed since the connection began. The pinned path is reset while the source of the path is read, because PostgreSQL tells it
-- only then. Each part refers to the one before, so that they run in order.
with lifted as materialized (
  select pg_catalog.set_config('search_path', null, true) as path
),
connection as materialized (
  select s.reset_val, s.source
  from lifted l
  cross join lateral (
    select s.reset_val, s.source from pg_catalog.pg_settings s where s.name = 'search_path' and l.path is not null offset 0
  ) s
),
pinned as materialized (
  select s.reset_val, s.source, pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true) as path from connection s
),
login as (
  select coalesce(
    case when p.source = 'client' then p.reset_val end,
    (
      select pg_catalog.substr(c.entry, pg_catalog.length('search_path=') + 1)
      from pg_catalog.pg_db_role_setting d
      cross join lateral pg_catalog.unnest(d.setconfig) c (entry)
      where c.entry like 'search\_path=%'
        and d.setrole in (0, (select r.oid from pg_catalog.pg_roles r where r.rolname = session_user))
        and d.setdatabase in (0, (select b.oid from pg_catalog.pg_database b where b.datname = pg_catalog.current_database()))
      order by d.setrole = 0, d.setdatabase = 0
      limit 1
    ),
    p.reset_val
  ) as search_path
  from pinned p
),
listed (name, position) as (
  select u.name, u.position from pg_catalog.unnest($1::pg_catalog.text[]) with ordinality u (name, position)
  union all
  select s.name, s.position
  from (
    select coalesce(pg_catalog.replace(m.part[1], '""', '"'), pg_catalog.lower(m.part[2] collate pg_catalog."C")) as name, m.position
    from login p
    cross join lateral pg_catalog.regexp_matches(p.search_path, '\s*(?:"((?:[^"]|"")*)"|([^",\s]+))\s*(?:,|$)', 'g')
      with ordinality m (part, position)
    where $1::pg_catalog.text[] is null
  ) s
  where s.name not in ('pgreflect', 'pgreflect_queue', 'auth', 'extensions')
)
select e.names, pg_catalog.set_config('pgreflect.exposed', e.names::pg_catalog.text, true) as setting
from (
  select coalesce(pg_catalog.array_agg(o.name order by o.position), '{}') as names
  from (
    select l.name, pg_catalog.min(l.position) as position from listed l
    where l.name not in ('', '$user', 'information_schema') and not pg_catalog.starts_with(l.name, 'pg_')
    group by l.name
  ) o
  offset 0
) e
