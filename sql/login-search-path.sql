-- The search_path that the login role would start a session with. The session's own value is used only where no
-- `alter role` or `alter database` applies, or where the connection asks for one, because those may have changed since it began.
select coalesce(
  (select s.reset_val from pg_catalog.pg_settings s where s.name = 'search_path' and s.source = 'client'),
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
  (select s.reset_val from pg_catalog.pg_settings s where s.name = 'search_path')
) as search_path
