-- Whether the schema-change trigger works: both event triggers are enabled, and the login role may read their table.
-- By oid: by name it fails without USAGE on the namespace.
select exists (
  select
  from pg_catalog.pg_class c
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace and n.nspname = 'pgreflect'
  where c.relname = 'catalog_change' and c.relkind = 'r'
    and pg_catalog.has_schema_privilege(n.oid, 'usage') and pg_catalog.has_table_privilege(c.oid, 'select')
) and (
  select count(*) = 2 from pg_catalog.pg_event_trigger t
  where t.evtname in ('pgreflect_ddl', 'pgreflect_drop') and t.evtenabled in ('O', 'A')
) and coalesce(pg_catalog.current_setting('event_triggers', true), 'on') <> 'off' as has_change_trigger
