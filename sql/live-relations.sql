-- How changes of relations ($1: oids that a query has locked) are noticed: `kind`, and `ancestors`, whose trigger fires in their place.
-- $2: refreshes of materialized views are recorded.
--
-- `exact`: each change is recorded. `none`: it has no rows of its own, or they belong to us. `foreign`: changes without a trace.
-- `interval`: anything else. Logical replication fires no trigger for statements.
--
-- `is_fixed`: whoever reads it reads the same other relations each time, because its policies and its view call no function that may
-- read others. Of partitions, a run locks those that it needs, and of sequences those that it has come to.
with recursive above (oid, ancestor) as (
  select a.oid, a.oid from pg_catalog.unnest($1::pg_catalog.oid[]) as a (oid)
  union
  select a.oid, i.inhparent from above a join pg_catalog.pg_inherits i on i.inhrelid = a.ancestor
),
recorded as (
  select a.oid, pg_catalog.array_to_string(pg_catalog.array_agg(a.ancestor), ',') as ancestors,
    pg_catalog.bool_and(
      exists (
        select from pg_catalog.pg_trigger t
        where t.tgrelid = a.ancestor and t.tgenabled = 'A' and t.tgqual is null
          and t.tgfoid = pg_catalog.to_regprocedure('pgreflect.note_live_change()')::pg_catalog.oid
          -- After each statement: insert, update, delete and truncate.
          and t.tgtype = 60 and t.tgattr::pg_catalog.text = '')
      and not exists (select from pg_catalog.pg_subscription_rel s where s.srrelid = a.ancestor)) as by_triggers
  from above a
  group by a.oid
),
-- include harmless.sql
parts (oid, class, object, expressions) as (
  select r.oid, 'pg_catalog.pg_policy'::pg_catalog.regclass, p.oid, p.polqual::pg_catalog.text
  from recorded r join pg_catalog.pg_policy p on p.polrelid = r.oid and p.polcmd in ('r', '*')
  union all
  select r.oid, 'pg_catalog.pg_rewrite'::pg_catalog.regclass, w.oid, w.ev_action::pg_catalog.text
  from recorded r join pg_catalog.pg_rewrite w on w.ev_class = r.oid and w.ev_type = '1'
),
varying (oid) as (
  select p.oid from parts p cross join runners u where p.expressions ~ u.pattern
  union
  select p.oid
  from parts p
  join pg_catalog.pg_depend d on d.classid = p.class and d.objid = p.object
  where d.refclassid in ('pg_catalog.pg_operator'::pg_catalog.regclass, 'pg_catalog.pg_opclass'::pg_catalog.regclass,
      'pg_catalog.pg_opfamily'::pg_catalog.regclass, 'pg_catalog.pg_cast'::pg_catalog.regclass)
    or d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass and d.refobjid not in (select f.oid from harmless_functions f)
    or d.refclassid = 'pg_catalog.pg_type'::pg_catalog.regclass and d.refobjid not in (select y.oid from harmless_types y)
    or d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refobjid in (select q.oid from pg_catalog.pg_class q where q.relkind = 'S')
)
select r.oid::pg_catalog.text as oid, r.ancestors,
  case
    when c.relkind in ('i', 'I', 't', 'v') or c.relpersistence = 't' or n.nspname = 'pgreflect'
      or c.oid = 'pg_catalog.pg_auth_members'::pg_catalog.regclass then 'none'
    when c.relkind = 'f' then 'foreign'
    when c.relkind in ('r', 'p') and r.by_triggers or c.relkind = 'm' and $2 then 'exact'
    else 'interval' end as kind,
  c.relkind not in ('p', 'f') and not c.relhassubclass and r.oid not in (select v.oid from varying v) as is_fixed
from recorded r
left join pg_catalog.pg_class c on c.oid = r.oid
left join pg_catalog.pg_namespace n on n.oid = c.relnamespace
