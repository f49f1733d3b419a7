-- How changes of relations ($1: oids that a query has locked) are noticed: `kind`, and `ancestors`, whose trigger fires in their place.
-- $2: refreshes of materialized views are recorded.
--
-- `exact`: each change is recorded. `none`: it has no rows of its own, or they belong to us. `foreign`: changes without a trace.
-- `interval`: anything else. Logical replication fires no trigger for statements.
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
)
select r.oid::pg_catalog.text as oid, r.ancestors,
  case
    when c.relkind in ('i', 'I', 't', 'v') or c.relpersistence = 't' or n.nspname = 'pgreflect'
      or c.oid = 'pg_catalog.pg_auth_members'::pg_catalog.regclass then 'none'
    when c.relkind = 'f' then 'foreign'
    when c.relkind in ('r', 'p') and r.by_triggers or c.relkind = 'm' and $2 then 'exact'
    else 'interval' end as kind
from recorded r
left join pg_catalog.pg_class c on c.oid = r.oid
left join pg_catalog.pg_namespace n on n.oid = c.relnamespace
