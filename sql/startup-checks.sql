-- Facts about the login role, the API roles and the schemas: whether the gateway can serve the database.
--
-- $1: json with roles and schemas (arrays of names). One row, one json.
select pg_catalog.json_build_object(
  'database', pg_catalog.current_database(),
  'login', current_user,
  'version', pg_catalog.current_setting('server_version_num')::int,
  'superuser', me.rolsuper,
  'bypassesRowSecurity', me.rolbypassrls,
  'standby', pg_catalog.pg_is_in_recovery(),
  'schemas', (
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('name', s.name, 'exists', n.oid is not null) order by s.position), '[]')
    from pg_catalog.json_array_elements_text($1::json -> 'schemas') with ordinality as s (name, position)
    left join pg_catalog.pg_namespace n on n.nspname = s.name
    where s.name <> '$user'
  ),
  'knownSchemas', (
    select coalesce(pg_catalog.json_agg(n.nspname), '[]')
    from (
      select nspname from pg_catalog.pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema' order by nspname limit 1000
    ) as n
  ),
  'roles', (
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
      'name', w.value,
      'exists', r.oid is not null,
      'settable', case
        when r.oid is null then false
        -- Since version 16 a membership may exclude `set role`.
        when pg_catalog.current_setting('server_version_num')::int >= 160000 then pg_catalog.pg_has_role(me.oid, r.oid, 'set')
        else pg_catalog.pg_has_role(me.oid, r.oid, 'member') end
    ) order by w.ordinality), '[]')
    from pg_catalog.json_array_elements_text($1::json -> 'roles') with ordinality as w
    left join pg_catalog.pg_roles r on r.rolname = w.value
  )
) as facts
from pg_catalog.pg_roles me
where me.rolname = current_user
