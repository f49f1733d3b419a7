-- What each role may do, one row per existing role: a JSON text of oids. $1: role names, $2: oids of namespaces,
-- $3: of tables, $4: of routines, $5: of types. Only PostgreSQL's own inquiry functions are asked, so inherited
-- memberships, ownership, superusers, predefined roles and grants to PUBLIC count as they do for a statement.
-- Bits: 1 select, 2 insert, 4 update, 8 delete.
with listed as materialized (
  -- Columns with an access list of their own: only they may have privileges beyond their table's. Found once for all roles.
  select a.attrelid, a.attnum
  from pg_catalog.pg_attribute a
  where a.attacl is not null and a.attnum > 0 and not a.attisdropped and a.attrelid = any ($3::pg_catalog.oid[])
)
select r.rolname as role, pg_catalog.json_build_object(
  'oid', r.oid::pg_catalog.text,
  'superuser', r.rolsuper,
  'bypassesRowSecurity', r.rolbypassrls,
  'namespaces', (
    select coalesce(pg_catalog.json_agg(n.oid::pg_catalog.text), '[]')
    from pg_catalog.unnest($2::pg_catalog.oid[]) n (oid)
    where pg_catalog.has_schema_privilege(r.oid, n.oid, 'usage')
  ),
  'tables', (
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(p.oid::pg_catalog.text, p.bits)), '[]')
    from (
      select t.oid,
        case when pg_catalog.has_table_privilege(r.oid, t.oid, 'select') then 1 else 0 end
        + case when pg_catalog.has_table_privilege(r.oid, t.oid, 'insert') then 2 else 0 end
        + case when pg_catalog.has_table_privilege(r.oid, t.oid, 'update') then 4 else 0 end
        + case when pg_catalog.has_table_privilege(r.oid, t.oid, 'delete') then 8 else 0 end as bits
      from pg_catalog.unnest($3::pg_catalog.oid[]) t (oid)
    ) p
    where p.bits <> 0
  ),
  'columns', (
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(p.oid::pg_catalog.text, p.number, p.bits)), '[]')
    from (
      select a.attrelid as oid, a.attnum as number,
        case when pg_catalog.has_column_privilege(r.oid, a.attrelid, a.attnum, 'select') then 1 else 0 end
        + case when pg_catalog.has_column_privilege(r.oid, a.attrelid, a.attnum, 'insert') then 2 else 0 end
        + case when pg_catalog.has_column_privilege(r.oid, a.attrelid, a.attnum, 'update') then 4 else 0 end as bits
      from listed a
    ) p
    where p.bits <> 0
  ),
  'routines', (
    select coalesce(pg_catalog.json_agg(p.oid::pg_catalog.text), '[]')
    from pg_catalog.unnest($4::pg_catalog.oid[]) p (oid)
    where pg_catalog.has_function_privilege(r.oid, p.oid, 'execute')
  ),
  'types', (
    select coalesce(pg_catalog.json_agg(t.oid::pg_catalog.text), '[]')
    from pg_catalog.unnest($5::pg_catalog.oid[]) t (oid)
    where pg_catalog.has_type_privilege(r.oid, t.oid, 'usage')
  ),
  -- In this database before in all. Settings that only superusers may change would fail in every request: left out,
  -- unless the login role is one. Names with a dot are the operator's own.
  'settings', (
    select coalesce(pg_catalog.json_object_agg(s.name, s.value), '{}')
    from (
      select distinct on (pg_catalog.lower(pg_catalog.split_part(c.entry, '=', 1)))
        pg_catalog.lower(pg_catalog.split_part(c.entry, '=', 1)) as name,
        pg_catalog.substr(c.entry, pg_catalog.strpos(c.entry, '=') + 1) as value
      from pg_catalog.pg_db_role_setting d
      cross join lateral pg_catalog.unnest(d.setconfig) c (entry)
      where d.setrole = r.oid
        and d.setdatabase in (0, (select b.oid from pg_catalog.pg_database b where b.datname = pg_catalog.current_database()))
      order by pg_catalog.lower(pg_catalog.split_part(c.entry, '=', 1)), d.setdatabase desc
    ) s
    left join pg_catalog.pg_settings g on pg_catalog.lower(g.name) = s.name
    where s.name not in ('search_path', 'role', 'session_authorization')
      and (g.context = 'user' or g.context = 'superuser' and pg_catalog.current_setting('is_superuser') = 'on'
        or g.name is null and pg_catalog.strpos(s.name, '.') > 0)
  )
)::pg_catalog.text as access
from pg_catalog.pg_roles r
where r.rolname = any ($1::pg_catalog.text[])
