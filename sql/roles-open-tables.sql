-- Tables of some schemas without row security, in order of their names.
--
-- $1: JSON with schemas (array) and roles (array, for only the tables that they can reach; roles that bypass row security do not
-- count). Views run with the rights of their owner, unless they are declared otherwise.
-- One row per table: schema, name and kind (of pg_class), why, fix (a statement, or null), policy (a statement with which the roles
-- can read all rows after the fix, null if the fix hides nothing), grants (statements, one a line, without which the roles cannot
-- read a view after the fix; null for none), roles that can reach it (quoted, separated by commas; null if none were given).
select n.nspname as schema, c.relname as table, c.relkind as kind,
  pg_catalog.format('%I.%I', n.nspname, c.relname) as name,
  case c.relkind
    when 'v' then 'a view that runs with its owner''s rights'
    when 'm' then 'a materialized view'
    when 'f' then 'a foreign table'
    else 'row security is off' end as why,
  case
    when c.relkind in ('r', 'p') then pg_catalog.format('alter table %I.%I enable row level security', n.nspname, c.relname)
    when c.relkind = 'v' and pg_catalog.current_setting('server_version_num')::int >= 150000
      then pg_catalog.format('alter view %I.%I set (security_invoker = true)', n.nspname, c.relname)
    when c.relkind in ('m', 'f') and r.list is not null
      then pg_catalog.format('revoke all on %I.%I from public, %s', n.nspname, c.relname, r.list) end as fix,
  case when c.relkind in ('r', 'p') and not c.relispartition
    then pg_catalog.format('create policy read_all on %I.%I for select to %s using (true)', n.nspname, c.relname, r.list) end as policy,
  case when c.relkind = 'v' then (
    select pg_catalog.string_agg(g.statement, e'\n' order by g.statement)
    from (
      select pg_catalog.format('grant select on %I.%I to %s;', tn.nspname, t.relname,
        pg_catalog.string_agg(distinct pg_catalog.quote_ident(a.rolname), ', ' order by pg_catalog.quote_ident(a.rolname))) as statement
      from pg_catalog.pg_rewrite w
      join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass and d.objid = w.oid
        and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refobjid <> c.oid and d.refobjsubid > 0
      join pg_catalog.pg_class t on t.oid = d.refobjid
      join pg_catalog.pg_namespace tn on tn.oid = t.relnamespace
      join pg_catalog.pg_roles a on a.oid = any (r.oids)
      where w.ev_class = c.oid and w.rulename = '_RETURN'
        and not pg_catalog.has_column_privilege(a.oid, t.oid, d.refobjsubid::pg_catalog.int2, 'select')
      group by tn.nspname, t.relname) g
  ) end as grants,
  r.list as roles
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
cross join lateral (
  select pg_catalog.string_agg(pg_catalog.quote_ident(r.rolname), ', ' order by r.rolname) as list, pg_catalog.array_agg(r.oid) as oids
  from pg_catalog.json_array_elements_text($1::json -> 'roles') e
  join pg_catalog.pg_roles r on r.rolname = e.value and not r.rolsuper and not r.rolbypassrls
  where pg_catalog.has_schema_privilege(r.oid, n.oid, 'usage') and (
    pg_catalog.has_table_privilege(r.oid, c.oid, 'select, insert, update, delete')
    or pg_catalog.has_any_column_privilege(r.oid, c.oid, 'select, insert, update'))
) r
where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relrowsecurity
  and (r.list is not null or $1::json ->> 'roles' is null)
  and not (c.relkind = 'v' and coalesce(c.reloptions && array['security_invoker=true', 'security_invoker=on', 'security_invoker=1'], false))
  and n.nspname in (select e.value from pg_catalog.json_array_elements_text($1::json -> 'schemas') as e)
  and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
order by n.nspname, c.relname
