-- Whether the schema `extensions` may be on the search path of requests, as it is at Supabase: column `trusted`.
--
-- It belongs to a superuser or to the owner of the database. Only those, their members and roles that may create roles may create
-- objects in it or own functions there, and no role of callers: functions that others run would call what they made.
select exists (
  select from pg_catalog.pg_namespace n
  join pg_catalog.pg_roles o on o.oid = n.nspowner
  where n.nspname = 'extensions'
    and (o.rolsuper or o.oid = (select d.datdba from pg_catalog.pg_database d where d.datname = current_database()))
    and not exists (
      select from pg_catalog.pg_roles r
      where not r.rolsuper and has_schema_privilege(r.oid, n.oid, 'create')
        and (pg_has_role(current_user, r.oid, 'member') or not (r.rolcreaterole or pg_has_role(r.oid, o.oid, 'member')))
    )
    -- What a login has left there that might create objects once. Owners that nobody acts as come with dumps of Supabase.
    and not exists (
      select from pg_catalog.pg_proc p
      join pg_catalog.pg_roles r on r.rolcanlogin and not r.rolsuper and not r.rolcreaterole and pg_has_role(r.oid, p.proowner, 'member')
      where p.pronamespace = n.oid and not pg_has_role(r.oid, o.oid, 'member')
    )
) as trusted
