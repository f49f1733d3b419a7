-- Whether live queries may rely on the record of changed tables (live.sql): `is_exact`. It is complete on a primary, and nobody decides
-- about it but a superuser or the owner of the database. Callers read their own locks.
select not pg_catalog.pg_is_in_recovery()
  and pg_catalog.has_table_privilege('public', 'pg_catalog.pg_locks'::pg_catalog.regclass, 'select')
  and pg_catalog.has_function_privilege('public', 'pg_catalog.pg_lock_status()'::pg_catalog.regprocedure, 'execute')
  and exists (
    select
    from pg_catalog.pg_namespace n
    join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = 'live_change'
    join pg_catalog.pg_proc p on p.pronamespace = n.oid and p.proname = 'note_live_change'
    where n.nspname = 'pgreflect' and c.relkind = 'r' and c.relpersistence = 'u' and p.prosecdef
      and not c.relrowsecurity and not c.relhasrules and not c.relhassubclass
      and pg_catalog.has_schema_privilege(n.oid, 'usage')
      and pg_catalog.has_table_privilege(c.oid, 'select') and pg_catalog.has_table_privilege(c.oid, 'delete')
      and (
        select pg_catalog.bool_and(o.rolsuper or o.oid = d.datdba)
        from pg_catalog.pg_roles o
        cross join pg_catalog.pg_database d
        where d.datname = pg_catalog.current_database() and o.oid in (n.nspowner, c.relowner, p.proowner))
  ) as is_exact
