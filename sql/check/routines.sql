-- Routines that run with the rights of their owner (security definer) and are not safe.
--
-- $1: names of the exposed schemas, $2: names of the API roles, the visitor's first. For the search path, routines of all
-- schemas are checked, because policies, triggers and other routines call those that are not exposed. Routines of
-- extensions are not checked.
-- One row per routine and kind: oid, name, owner, kind, grantees (of kind `callable`, separated by commas), fix. Of kind `callable`
-- also lost (API roles that lose the right with the fix, separated by commas, or null), uses (what calls it, json: text and whether
-- visitors use that) and bodies (json: routines whose text names it, or null).
--   search_path  names in it are looked up in the caller's search path
--   callable     a visitor may call it through the API
with definer as (
  select p.oid, n.nspname, p.proname, p.oid::pg_catalog.regprocedure::text as name, p.proowner,
    pg_catalog.pg_get_userbyid(p.proowner) as owner, p.proconfig, p.prorettype,
    coalesce(p.proacl, pg_catalog.acldefault('f', p.proowner)) as acl
  from pg_catalog.pg_proc p
  join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  where p.prosecdef and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
    and not exists (
      select from pg_catalog.pg_depend d
      where d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass and d.objid = p.oid and d.deptype = 'e')
),
visitor as (
  select r.oid from pg_catalog.pg_roles r where r.rolname = ($2::text[])[1]
),
callable as materialized (
  select d.*, g.list as grantees, pg_catalog.substring(d.proname::text, '\w+$') as last_word
  from definer d
  cross join visitor v
  cross join lateral (
    select pg_catalog.string_agg(case when e.grantee = 0 then 'public' else pg_catalog.quote_ident(r.rolname) end, ', ' order by e.grantee) as list
    from pg_catalog.aclexplode(d.acl) e
    left join pg_catalog.pg_roles r on r.oid = e.grantee
    where e.privilege_type = 'EXECUTE' and e.grantee <> d.proowner and (e.grantee = 0 or e.grantee = v.oid)
  ) g
  where d.nspname = any ($1::text[]) and g.list is not null
    and d.prorettype not in ('pg_catalog.trigger'::pg_catalog.regtype, 'pg_catalog.event_trigger'::pg_catalog.regtype)
),
-- Words that stand before a parenthesis in the text of a routine. Each text is read once, however many routines there are.
called as materialized (
  select distinct p.oid, m.words[1] as word
  from pg_catalog.pg_proc p
  join pg_catalog.pg_namespace n on n.oid = p.pronamespace and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
  cross join lateral pg_catalog.regexp_matches(p.prosrc, '(\w+)"?\s*\(', 'g') as m (words)
  where exists (select from callable)
),
-- Routines whose text calls a callable one, or that is itself: their text stays as it is when the routine moves.
bodies as materialized (
  select d.oid as definer, p.oid, p.oid::pg_catalog.regprocedure::text as name
  from callable d
  join called c on c.word = d.last_word
  join pg_catalog.pg_proc p on p.oid = c.oid
  where d.proname ~ '^\w+$' or p.prosrc ~ ('\m' || pg_catalog.regexp_replace(d.proname, '(\W)', '\\\1', 'g') || '"?\s*\(')
),
-- Tables by what belongs to them, and by the functions of their triggers.
belonging (classid, objid, relid) as (
  select 'pg_catalog.pg_policy'::pg_catalog.regclass::oid, p.oid, p.polrelid from pg_catalog.pg_policy p
  union all
  select 'pg_catalog.pg_rewrite'::pg_catalog.regclass, w.oid, w.ev_class from pg_catalog.pg_rewrite w
  union all
  select 'pg_catalog.pg_attrdef'::pg_catalog.regclass, a.oid, a.adrelid from pg_catalog.pg_attrdef a
  union all
  select 'pg_catalog.pg_constraint'::pg_catalog.regclass, c.oid, c.conrelid from pg_catalog.pg_constraint c where c.conrelid <> 0
  union all
  select 'pg_catalog.pg_class'::pg_catalog.regclass, i.indexrelid, i.indrelid from pg_catalog.pg_index i
  union all
  select 'pg_catalog.pg_trigger'::pg_catalog.regclass, g.oid, g.tgrelid from pg_catalog.pg_trigger g
  union all
  select 'pg_catalog.pg_proc'::pg_catalog.regclass, g.tgfoid, g.tgrelid from pg_catalog.pg_trigger g where not g.tgisinternal
),
-- What calls a callable routine with the rights of its user, who then needs EXECUTE on it.
used as materialized (
  select c.definer, pg_catalog.json_agg(pg_catalog.json_build_object('text', c.text, 'visited', c.visited) order by c.text) as list
  from (
    select u.definer, pg_catalog.regexp_replace(pg_catalog.pg_describe_object(u.classid, u.objid, u.objsubid), '^rule "?_RETURN"? on ', '') as text,
      case
        when f.oid is not null and f.prorettype <> 'pg_catalog.trigger'::pg_catalog.regtype
          then pg_catalog.has_function_privilege(v.oid, f.oid, 'execute')
        when p.oid is not null and not exists (
          select from pg_catalog.unnest(p.polroles) as o (oid) where o.oid = 0 or pg_catalog.pg_has_role(v.oid, o.oid, 'usage')) then false
        else coalesce(pg_catalog.bool_or(pg_catalog.has_table_privilege(v.oid, t.oid, 'delete')
          or pg_catalog.has_any_column_privilege(v.oid, t.oid, 'select, insert, update')), f.oid is null)
      end as visited
    from (
      select d.oid as definer, d.proowner, x.classid, x.objid, x.objsubid
      from callable d
      join pg_catalog.pg_depend x on x.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass and x.refobjid = d.oid
      union
      select d.oid, d.proowner, 'pg_catalog.pg_proc'::pg_catalog.regclass, b.oid, 0
      from callable d join bodies b on b.definer = d.oid
    ) u
    cross join visitor v
    left join pg_catalog.pg_policy p on u.classid = 'pg_catalog.pg_policy'::pg_catalog.regclass and p.oid = u.objid
    left join pg_catalog.pg_proc f on u.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass and f.oid = u.objid
    left join belonging w on w.classid = u.classid and w.objid = u.objid
    left join pg_catalog.pg_class t on t.oid = w.relid
    -- The text of a routine with the rights of the same owner calls it with those; a materialized view is filled with its owner's.
    where coalesce(f.oid <> u.definer and not (f.prosecdef and f.proowner = u.proowner), true) and coalesce(t.relkind <> 'm', true)
    group by u.definer, u.classid, u.objid, u.objsubid, f.oid, f.prorettype, p.oid, p.polroles, v.oid
  ) c
  group by c.definer
)
select d.oid::text, d.name, d.owner, 'search_path' as kind, null as grantees, null as lost, null::json as uses, null::json as bodies,
  pg_catalog.format('alter routine %s set search_path = %s, pg_temp', d.name, s.path) as fix
from definer d
-- Its own schema, those of extensions, and those of the path in force, unless API roles may create there.
cross join lateral (
  select pg_catalog.string_agg(pg_catalog.quote_ident(f.name), ', ' order by f.place, f.name) as path
  from (
    select x.name, pg_catalog.min(x.place) as place
    from (
      select d.nspname as name, 0 as place
      union all
      select n.nspname, 2 from pg_catalog.pg_extension e join pg_catalog.pg_namespace n on n.oid = e.extnamespace
      union all
      select n.nspname, 1
      from pg_catalog.pg_db_role_setting c
      cross join lateral pg_catalog.unnest(c.setconfig) as v (setting)
      cross join lateral pg_catalog.regexp_split_to_table(pg_catalog.substr(v.setting, 13), '\s*,\s*') as t (name)
      join pg_catalog.pg_namespace n on n.nspname = pg_catalog.btrim(t.name, '"')
      where v.setting like 'search_path=%' and c.setrole = 0
        and c.setdatabase in (0, (select b.oid from pg_catalog.pg_database b where b.datname = pg_catalog.current_database()))
    ) x
    where x.name !~ '^pg_' and (x.place = 0 or not exists (
      select from pg_catalog.pg_roles r where r.rolname = any ($2::text[]) and not r.rolsuper and pg_catalog.has_schema_privilege(r.oid, x.name, 'create')))
    group by x.name
  ) f
) s
where not exists (select from pg_catalog.unnest(d.proconfig) as s (setting) where s.setting like 'search_path=%')
union all
select d.oid::text, d.name, d.owner, 'callable', d.grantees, l.list, coalesce(u.list, '[]'), b.list,
  pg_catalog.format('revoke execute on routine %s from %s', d.name, d.grantees)
from callable d
cross join visitor v
cross join lateral (
  select pg_catalog.string_agg(pg_catalog.quote_ident(r.rolname), ', ' order by r.rolname) as list
  from pg_catalog.pg_roles r
  where r.rolname = any ($2::text[]) and r.oid <> v.oid and not r.rolsuper
    and pg_catalog.has_function_privilege(r.oid, d.oid, 'execute')
    and not exists (
      select from pg_catalog.aclexplode(d.acl) e
      where e.privilege_type = 'EXECUTE' and e.grantee not in (0, v.oid) and pg_catalog.pg_has_role(r.oid, e.grantee, 'usage'))
) l
left join (
  select b.definer, pg_catalog.json_agg(b.name order by b.name) as list from bodies b group by b.definer
) b on b.definer = d.oid
left join used u on u.definer = d.oid
order by 2, 4 desc
