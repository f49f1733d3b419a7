-- Default privileges with which visitors may write to every new table, and the statements that revoke them.
--
-- $1: names of the schemas, $2: names of the API roles; roles that bypass row security do not count. Default privileges
-- without a schema apply to all schemas. One row per creator, schema and list of privileges: maker, schema (null: all), grantees
-- and privileges (separated by commas), fix.
with granted as (
  select pg_catalog.pg_get_userbyid(d.defaclrole) as maker, n.nspname,
    case when e.grantee = 0 then 'public' else pg_catalog.quote_ident(r.rolname) end as grantee,
    pg_catalog.string_agg(pg_catalog.lower(e.privilege_type), ', ' order by
      pg_catalog.array_position(array['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE'], e.privilege_type)) as privileges
  from pg_catalog.pg_default_acl d
  left join pg_catalog.pg_namespace n on n.oid = d.defaclnamespace
  cross join lateral pg_catalog.aclexplode(d.defaclacl) e
  left join pg_catalog.pg_roles r on r.oid = e.grantee
  where d.defaclobjtype = 'r' and (d.defaclnamespace = 0 or n.nspname = any ($1::text[]))
    and e.privilege_type in ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE')
    and (e.grantee = 0 or (r.rolname = any ($2::text[]) and not r.rolsuper and not r.rolbypassrls))
  group by d.defaclrole, n.nspname, e.grantee, r.rolname
)
select g.maker, g.nspname as schema, g.privileges, pg_catalog.string_agg(g.grantee, ', ' order by g.grantee) as grantees,
  pg_catalog.format('alter default privileges for role %I %srevoke %s on tables from %s', g.maker,
    case when g.nspname is null then '' else pg_catalog.format('in schema %I ', g.nspname) end,
    g.privileges, pg_catalog.string_agg(g.grantee, ', ' order by g.grantee)) as fix
from granted g
group by g.maker, g.nspname, g.privileges
order by g.maker, g.nspname nulls first, g.privileges
