-- Tables that live queries on the exposed schemas ($1: names) may read, also behind views, policies and functions with a parsed body:
-- what each lacks for the exact mode, as rows of roles.sql (`topic`, `statement`, `advice`). No statement: it has its trigger.
--
-- Parents and partitions count as well: a row that is written through a parent fires the trigger of the parent alone.
with recursive edge (class, obj, refclass, ref) as (
  select 'pg_catalog.pg_class'::pg_catalog.regclass, w.ev_class, d.refclassid, d.refobjid
  from pg_catalog.pg_rewrite w
  join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass and d.objid = w.oid and d.refobjid <> w.ev_class
  where w.ev_type = '1'
  union
  select 'pg_catalog.pg_class'::pg_catalog.regclass, p.polrelid, d.refclassid, d.refobjid
  from pg_catalog.pg_policy p
  join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_policy'::pg_catalog.regclass and d.objid = p.oid and d.refobjid <> p.polrelid
  where p.polcmd in ('r', '*')
  union
  select 'pg_catalog.pg_class'::pg_catalog.regclass, i.inhparent, 'pg_catalog.pg_class'::pg_catalog.regclass, i.inhrelid from pg_catalog.pg_inherits i
  union
  select 'pg_catalog.pg_class'::pg_catalog.regclass, i.inhrelid, 'pg_catalog.pg_class'::pg_catalog.regclass, i.inhparent from pg_catalog.pg_inherits i
  union
  select d.classid, d.objid, d.refclassid, d.refobjid from pg_catalog.pg_depend d where d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass
),
exposed as (
  select n.oid from pg_catalog.pg_namespace n where n.nspname = any ($1::pg_catalog.text[])
),
reached (class, obj) as (
  select 'pg_catalog.pg_class'::pg_catalog.regclass, c.oid
  from pg_catalog.pg_class c where c.relnamespace in (select e.oid from exposed e) and c.relkind in ('r', 'p', 'v', 'm', 'f')
  union
  select 'pg_catalog.pg_proc'::pg_catalog.regclass, p.oid from pg_catalog.pg_proc p where p.pronamespace in (select e.oid from exposed e)
  union
  select e.refclass, e.ref
  from reached r
  join edge e on e.class = r.class and e.obj = r.obj
  where e.refclass in ('pg_catalog.pg_class'::pg_catalog.regclass, 'pg_catalog.pg_proc'::pg_catalog.regclass)
),
found as (
  select pg_catalog.format('%I.%I', n.nspname, c.relname) as name, t.tgname, t.tgenabled,
    (with recursive above (oid, depth) as (
      select c.oid, 0 union all select i.inhparent, a.depth + 1 from above a join pg_catalog.pg_inherits i on i.inhrelid = a.oid
    ) select pg_catalog.max(a.depth) from above a) as depth
  from reached r
  join pg_catalog.pg_class c on r.class = 'pg_catalog.pg_class'::pg_catalog.regclass and c.oid = r.obj
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  left join lateral (
    select g.tgname, g.tgenabled from pg_catalog.pg_trigger g
    where g.tgrelid = c.oid and not g.tgisinternal and g.tgfoid = pg_catalog.to_regprocedure('pgreflect.note_live_change()')::pg_catalog.oid
    order by g.tgenabled = 'A' desc limit 1
  ) t on true
  where c.relkind in ('r', 'p') and c.relpersistence <> 't'
    and n.nspname not in ('pg_catalog', 'information_schema', 'pgreflect')
)
select f.name as "table", pg_catalog.format('change trigger on %s', f.name) as topic,
  case
    when f.tgname is null then pg_catalog.format('create trigger pgreflect_live after insert or update or delete or truncate on %1$s
  for each statement execute function pgreflect.note_live_change();
alter table %1$s enable always trigger pgreflect_live', f.name)
    when f.tgenabled <> 'A' then pg_catalog.format('alter table %s enable always trigger %I', f.name, f.tgname) end as statement,
  null as advice
from found f
-- Partitions first: to alter a table with a trigger gives one to its partitions (watch.sql).
order by f.depth desc, f.name
