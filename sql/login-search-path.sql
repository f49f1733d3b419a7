-- The search_path that the login role would start a session with. The session's own value is used only where no
-- `alter role` or `alter database` applies, or where the connection asks for one, because those may have changed since it began.
--
-- The pinned path is lifted while the session is asked, because only then PostgreSQL says where its own path comes from. The
-- references from one part to the one before are what makes their order.
with lifted as materialized (
  select pg_catalog.set_config('search_path', null, true) as path
),
session as materialized (
  select s.reset_val, s.source
  from lifted l
  cross join lateral (
    select s.reset_val, s.source from pg_catalog.pg_settings s where s.name = 'search_path' and l.path is not null offset 0
  ) s
),
pinned as materialized (
  select s.reset_val, s.source, pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true) as path from session s
)
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
