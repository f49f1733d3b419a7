-- Exposed schemas in which roles other than the owner may create objects, and the statements that revoke that.
--
-- $1: names of the schemas, $2: names of the API roles; roles that bypass row security do not count. One row per schema:
-- name, grantees (separated by commas), fix.
select n.nspname as name, g.grantees,
  pg_catalog.format('revoke create on schema %I from %s', n.nspname, g.grantees) as fix
from pg_catalog.pg_namespace n
cross join lateral (
  select pg_catalog.string_agg(case when e.grantee = 0 then 'public' else pg_catalog.quote_ident(r.rolname) end, ', '
    order by e.grantee = 0 desc, r.rolname) as grantees
  from pg_catalog.aclexplode(coalesce(n.nspacl, pg_catalog.acldefault('n', n.nspowner))) e
  left join pg_catalog.pg_roles r on r.oid = e.grantee
  where e.privilege_type = 'CREATE' and e.grantee <> n.nspowner
    and (e.grantee = 0 or (r.rolname = any ($2::text[]) and not r.rolsuper and not r.rolbypassrls))
) g
where n.nspname = any ($1::text[]) and g.grantees is not null
order by n.nspname
