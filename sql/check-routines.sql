-- Routines that run with the rights of their owner (security definer) and are not safe.
--
-- $1: names of the exposed schemas, $2: names of the API roles without the service role, the visitor's first. For the search
-- path, routines of all schemas are checked, because policies, triggers and other routines call those that are not exposed. Routines of
-- extensions are not checked.
-- One row per routine and kind: name, owner, kind, grantees (of kind `callable`, separated by commas), fix.
--   search_path  names in it are looked up in the caller's search path
--   callable     a visitor may call it through the API
--   policy       the same, and a policy calls it: readers of the table need EXECUTE
with definer as (
  select p.oid, n.nspname, p.oid::pg_catalog.regprocedure::text as name, pg_catalog.pg_get_userbyid(p.proowner) as owner,
    p.proconfig, p.proacl, p.proowner, p.prorettype
  from pg_catalog.pg_proc p
  join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  where p.prosecdef and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
    and not exists (
      select from pg_catalog.pg_depend d
      where d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass and d.objid = p.oid and d.deptype = 'e')
)
select d.name, d.owner, 'search_path' as kind, null as grantees,
  pg_catalog.format('alter routine %s set search_path = %I, pg_temp', d.name, d.nspname) as fix
from definer d
where not exists (select from pg_catalog.unnest(d.proconfig) as s (setting) where s.setting like 'search_path=%')
union all
select d.name, d.owner, case when p.calls then 'policy' else 'callable' end, g.list,
  case when not p.calls then pg_catalog.format('revoke execute on routine %s from %s', d.name, g.list) end
from definer d
cross join lateral (
  select exists (
    select from pg_catalog.pg_depend u
    where u.classid = 'pg_catalog.pg_policy'::pg_catalog.regclass
      and u.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass and u.refobjid = d.oid
  ) as calls
) p
cross join lateral (
  select pg_catalog.string_agg(case when e.grantee = 0 then 'public' else pg_catalog.quote_ident(r.rolname) end, ', ' order by e.grantee) as list
  from pg_catalog.aclexplode(coalesce(d.proacl, pg_catalog.acldefault('f', d.proowner))) e
  left join pg_catalog.pg_roles r on r.oid = e.grantee
  where e.privilege_type = 'EXECUTE' and e.grantee <> d.proowner and (e.grantee = 0 or r.rolname = ($2::text[])[1])
) g
where d.nspname = any ($1::text[]) and g.list is not null
  and d.prorettype not in ('pg_catalog.trigger'::pg_catalog.regtype, 'pg_catalog.event_trigger'::pg_catalog.regtype)
order by 1, 3 desc
