-- API roles that row security does not apply to, and the statements that change that.
--
-- $1: names of the schemas, $2: names of the API roles without the service role.
-- One row per role or owned table: role, name (of the table; null: all tables), why, fix.
with api_role as (
  select r.oid, r.rolname, r.rolsuper, r.rolbypassrls from pg_catalog.pg_roles r where r.rolname = any ($2::text[])
)
select r.rolname as role, null as name,
  case when r.rolsuper then 'it is a superuser' else 'it has the attribute bypassrls' end as why,
  pg_catalog.format('alter role %I nosuperuser nobypassrls', r.rolname) as fix
from api_role r
where r.rolsuper or r.rolbypassrls
union all
select r.rolname, pg_catalog.format('%I.%I', n.nspname, c.relname), 'it owns the table',
  pg_catalog.format('alter table %I.%I force row level security', n.nspname, c.relname)
from api_role r
join pg_catalog.pg_class c on c.relkind in ('r', 'p') and not c.relforcerowsecurity and pg_catalog.pg_has_role(r.oid, c.relowner, 'usage')
join pg_catalog.pg_namespace n on n.oid = c.relnamespace and n.nspname = any ($1::text[])
where not r.rolsuper and not r.rolbypassrls
order by 1, 2 nulls first
