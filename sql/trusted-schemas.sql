-- Those of some schemas ($1: names) that may be on a search path that callers run code with: column `name`.
--
-- Such a schema belongs to a superuser or to the owner of the database, as `public` does since PostgreSQL 15. Only those, their members
-- and roles that may create roles may create objects in it or own some there, and no role of callers: functions that others run would
-- call what they made.
select n.nspname as name
from pg_catalog.pg_namespace n
join pg_catalog.pg_roles o on o.oid = n.nspowner
where n.nspname = any ($1::text[])
  and (o.rolsuper or o.rolname = 'pg_database_owner' or o.oid = (select d.datdba from pg_catalog.pg_database d where d.datname = current_database()))
  and not exists (
    select from pg_catalog.pg_roles r
    where not r.rolsuper and has_schema_privilege(r.oid, n.oid, 'create')
      and (not (r.rolcreaterole or pg_has_role(r.oid, o.oid, 'member')) or exists (
        -- A superuser may act as everybody.
        select from pg_catalog.pg_roles l where l.rolname = current_user and not l.rolsuper and pg_has_role(l.oid, r.oid, 'member')))
  )
  -- What a login has left there that might create objects once. Owners that nobody acts as come with dumps of Supabase.
  and not exists (
    select from (
      select p.proowner from pg_catalog.pg_proc p where p.pronamespace = n.oid
      union select p.oprowner from pg_catalog.pg_operator p where p.oprnamespace = n.oid
      union select t.typowner from pg_catalog.pg_type t where t.typnamespace = n.oid
      union select c.relowner from pg_catalog.pg_class c where c.relnamespace = n.oid
    ) made (by)
    join pg_catalog.pg_roles r on r.rolcanlogin and not r.rolsuper and not r.rolcreaterole and pg_has_role(r.oid, made.by, 'member')
    where not pg_has_role(r.oid, o.oid, 'member')
  )
