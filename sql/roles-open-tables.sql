-- Tables of some schemas without row security, in order of their names.
--
-- $1: JSON with schemas (array) and roles (array, for only the tables that they can reach; roles that bypass row security do not
-- count). Views run with the rights of their owner, unless they are declared otherwise.
-- One row per table: oid, schema, name and kind (of pg_class), why, fix (a statement, or null), policy (a statement with which the
-- roles can read all rows after the fix, null if the fix hides nothing, or by policies that are there), grants (statements, one a line, without which the roles cannot
-- read a view after the fix; null for none), reads (tables that a view reads, json, or null), asks (functions that a view
-- or what it reads with its owner's rights calls and that may ask who the caller is, json, or null), guarded (tables that a view reads and of which policies hide rows from the roles,
-- separated by commas, or null), depends (what makes other rows of a view depend on hidden rows, or null), invoker (the statement that gives a view the rights of its caller, or null), revoke (a
-- statement, null without roles), roles that can reach it (quoted, separated by commas; null if none were given).
select c.oid::text as oid, n.nspname as schema, c.relname as table, c.relkind as kind,
  pg_catalog.format('%I.%I', n.nspname, c.relname) as name,
  case c.relkind
    when 'v' then 'a view that runs with its owner''s rights'
    when 'm' then 'a materialized view'
    when 'f' then 'a foreign table'
    else 'row security is off' end as why,
  case
    when c.relkind in ('r', 'p') then pg_catalog.format('alter table %I.%I enable row level security', n.nspname, c.relname)
    -- One that asks for its caller decides itself, one whose caller lacks a grant would fail, and one over hidden rows may return others.
    when c.relkind = 'v' and b.asks is null and g.statements is null and (b.depends is null or b.guarded is null) then i.statement
    when c.relkind in ('m', 'f') then r.revoke end as fix,
  -- Where policies exist, those apply.
  case when c.relkind in ('r', 'p') and not c.relispartition
      and not exists (select from pg_catalog.pg_policy p where p.polrelid = c.oid and p.polpermissive and p.polcmd in ('r', '*'))
    then pg_catalog.format('create policy read_all on %I.%I for select to %s using (true)', n.nspname, c.relname, r.list) end as policy,
  g.statements as grants,
  b.reads, b.asks, b.guarded, b.depends, i.statement as invoker, r.revoke, r.list as roles
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
cross join lateral (
  select pg_catalog.string_agg(pg_catalog.quote_ident(r.rolname), ', ' order by r.rolname) as list, pg_catalog.array_agg(r.oid) as oids,
    pg_catalog.format('revoke all on %I.%I from public, ', n.nspname, c.relname)
      || pg_catalog.string_agg(pg_catalog.quote_ident(r.rolname), ', ' order by r.rolname) as revoke
  from pg_catalog.json_array_elements_text($1::json -> 'roles') e
  join pg_catalog.pg_roles r on r.rolname = e.value and not r.rolsuper and not r.rolbypassrls
  where pg_catalog.has_schema_privilege(r.oid, n.oid, 'usage') and (
    pg_catalog.has_table_privilege(r.oid, c.oid, 'select, insert, update, delete')
    or pg_catalog.has_any_column_privilege(r.oid, c.oid, 'select, insert, update'))
) r
cross join lateral (
  select case when c.relkind = 'v' and pg_catalog.current_setting('server_version_num')::int >= 150000
    then pg_catalog.format('alter view %I.%I set (security_invoker = true)', n.nspname, c.relname) end as statement
) i
cross join lateral (
  select pg_catalog.string_agg(s.statement, e'\n' order by s.statement) as statements
  from (
    select pg_catalog.format('grant select on %I.%I to %s;', tn.nspname, t.relname,
      pg_catalog.string_agg(distinct pg_catalog.quote_ident(a.rolname), ', ' order by pg_catalog.quote_ident(a.rolname))) as statement
    from pg_catalog.pg_rewrite w
    join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass and d.objid = w.oid
      and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refobjid <> c.oid
    join pg_catalog.pg_class t on t.oid = d.refobjid
    join pg_catalog.pg_namespace tn on tn.oid = t.relnamespace
    join pg_catalog.pg_roles a on a.oid = any (r.oids)
    where c.relkind = 'v' and w.ev_class = c.oid and w.rulename = '_RETURN'
      -- A table of which no column is read, such as one whose rows are counted, needs a privilege on any.
      and not case when d.refobjsubid > 0 then pg_catalog.has_column_privilege(a.oid, t.oid, d.refobjsubid::pg_catalog.int2, 'select')
        else pg_catalog.has_any_column_privilege(a.oid, t.oid, 'select') end
    group by tn.nspname, t.relname
  ) s
) g
-- What a view reads with the rights of its caller, once it runs with them. Views below that run with their owner's keep them.
cross join lateral (
  with recursive below (oid) as (
    select c.oid where c.relkind = 'v'
    union
    select d.refobjid
    from below b
    join pg_catalog.pg_class v on v.oid = b.oid
    join pg_catalog.pg_rewrite w on w.ev_class = b.oid and w.rulename = '_RETURN'
    join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass and d.objid = w.oid
      and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
    where v.relkind = 'v' and (v.oid = c.oid
      or v.reloptions && array['security_invoker=true', 'security_invoker=on', 'security_invoker=1'])
  ),
  guarded as (
    select pg_catalog.string_agg(pg_catalog.format('%I.%I', tn.nspname, t.relname), ', ' order by tn.nspname, t.relname) as list
    from below b
    join pg_catalog.pg_class t on t.oid = b.oid and t.relrowsecurity
    join pg_catalog.pg_namespace tn on tn.oid = t.relnamespace
    where r.oids is null or exists (
      select from pg_catalog.unnest(r.oids) as a (oid)
      where not coalesce((
        select pg_catalog.bool_or(p.polpermissive and pg_catalog.pg_get_expr(p.polqual, p.polrelid) = 'true')
          and pg_catalog.bool_and(p.polpermissive or pg_catalog.pg_get_expr(p.polqual, p.polrelid) = 'true')
        from pg_catalog.pg_policy p
        where p.polrelid = t.oid and p.polcmd in ('r', '*')
          and (0 = any (p.polroles) or exists (
            select from pg_catalog.unnest(p.polroles) as o (oid) where o.oid <> 0 and pg_catalog.pg_has_role(a.oid, o.oid, 'usage')))
      ), false))
  ),
  query as (
    select pg_catalog.string_agg(w.ev_action::text, ' ') as tree
    from below b
    join pg_catalog.pg_rewrite w on w.ev_class = b.oid and w.rulename = '_RETURN'
  ),
  -- What it and the views below it read and call, whoever's rights they run with.
  whole (oid) as (
    select c.oid where c.relkind = 'v'
    union
    select d.refobjid
    from whole w
    join pg_catalog.pg_class v on v.oid = w.oid and v.relkind = 'v'
    join pg_catalog.pg_rewrite o on o.ev_class = w.oid and o.rulename = '_RETURN'
    join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass and d.objid = o.oid
      and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
  ),
  read as (
    select pg_catalog.json_agg(pg_catalog.format('%I.%I', tn.nspname, t.relname) order by tn.nspname, t.relname) as list
    from whole w
    join pg_catalog.pg_class t on t.oid = w.oid and t.relkind <> 'v'
    join pg_catalog.pg_namespace tn on tn.oid = t.relnamespace
  ),
  asked as (
    select pg_catalog.json_agg(distinct a.name) as list
    from whole w
    join pg_catalog.pg_rewrite o on o.ev_class = w.oid and o.rulename = '_RETURN'
    cross join lateral (
      select p.oid::pg_catalog.regproc::text as name
      from pg_catalog.pg_depend d
      join pg_catalog.pg_proc p on p.oid = d.refobjid and p.provolatile <> 'i'
      where d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass and d.objid = o.oid and d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass
      -- Functions that are pinned, and words such as current_user, are in the text alone.
      union all
      select 'current_setting' where o.ev_action::text ~ ':funcid (2077|3294) '
      union all
      select 'current_user' where o.ev_action::text ~ 'SQLVALUEFUNCTION :op (9|10|11|12) '
    ) a
  )
  select g.list as guarded, d.list as reads, k.list as asks, nullif(pg_catalog.concat_ws(', ',
    case when q.tree ~ ':hasAggs true|:hasWindowFuncs true' then 'aggregates' end,
    case when q.tree ~ ':hasSubLinks true' then 'subqueries' end,
    case when q.tree ~ '{SETOPERATIONSTMT :op 3' then 'except' end,
    case when q.tree ~ ':jointype [123]' then 'outer joins' end,
    case when q.tree ~ ':hasDistinctOn true|:limitCount {|:limitOffset {' then 'a limit' end), '') as depends
  from guarded g, query q, read d, asked k
) b
where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relrowsecurity
  and (r.list is not null or $1::json ->> 'roles' is null)
  and not (c.relkind = 'v' and coalesce(c.reloptions && array['security_invoker=true', 'security_invoker=on', 'security_invoker=1'], false))
  and n.nspname in (select e.value from pg_catalog.json_array_elements_text($1::json -> 'schemas') as e)
  and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
order by n.nspname, c.relname
