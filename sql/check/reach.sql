-- What may make which routine run: for finding the routines that API callers reach.
--
-- $1: names of the API roles, $2: names of the exposed schemas, which those roles are to use. Nodes are relations, `c` with their oid, and routines, `p` with theirs. One row with
-- entries (nodes that a caller may use, and what the auth service writes on behalf of callers), routines (of users) with
-- name, text and whether they run with the rights of their owner, relations with their names, and edges: who uses the first,
-- may make the second run or be read or written.
with role as (
  -- Roles that a caller may become.
  select r.oid from pg_catalog.pg_roles r
  where exists (select from pg_catalog.pg_roles a where a.rolname = any ($1::text[]) and pg_catalog.pg_has_role(a.oid, r.oid, 'member'))
  union all
  -- Everybody: the API roles may be made later.
  select 0
),
routine as (
  select p.oid, p.proname, p.prosecdef, p.pronamespace, n.nspname, l.lanname, case when l.lanname in ('c', 'internal') then '' else p.prosrc end as text
  from pg_catalog.pg_proc p
  join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  join pg_catalog.pg_language l on l.oid = p.prolang
  where n.nspname !~ '^pg_' and n.nspname not in ('information_schema', 'pgreflect')
),
relation as (
  select c.oid, c.relname, n.nspname
  from pg_catalog.pg_class c
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'v', 'm', 'f', 'p') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
),
dependency as (
  select d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass as on_routine, d.refobjid,
    case when d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass then 'p' || d.objid
      else 'c' || coalesce(p.polrelid, w.ev_class, a.adrelid, nullif(k.conrelid, 0), t.tgrelid, i.indrelid, c.oid) end as user_node
  from pg_catalog.pg_depend d
  left join pg_catalog.pg_policy p on d.classid = 'pg_catalog.pg_policy'::pg_catalog.regclass and p.oid = d.objid
  left join pg_catalog.pg_rewrite w on d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass and w.oid = d.objid
  left join pg_catalog.pg_attrdef a on d.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass and a.oid = d.objid
  left join pg_catalog.pg_constraint k on d.classid = 'pg_catalog.pg_constraint'::pg_catalog.regclass and k.oid = d.objid
  left join pg_catalog.pg_trigger t on d.classid = 'pg_catalog.pg_trigger'::pg_catalog.regclass and t.oid = d.objid
  left join pg_catalog.pg_class c on d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass and c.oid = d.objid
  left join pg_catalog.pg_index i on i.indexrelid = c.oid
  where d.refclassid in ('pg_catalog.pg_proc'::pg_catalog.regclass, 'pg_catalog.pg_class'::pg_catalog.regclass) and d.refobjid >= 16384
),
entry as (
  select 'p' || r.oid as node from routine r
  where exists (
    select from role o
    where (r.nspname = any ($2::text[]) or pg_catalog.has_schema_privilege(o.oid, r.pronamespace, 'usage')) and pg_catalog.has_function_privilege(o.oid, r.oid, 'execute'))
  union
  select 'c' || r.oid from relation r
  where r.nspname in ('auth', 'pgreflect_queue') or exists (
    select from role o
    where pg_catalog.has_table_privilege(o.oid, r.oid, 'delete, truncate, trigger')
      or pg_catalog.has_any_column_privilege(o.oid, r.oid, 'select, insert, update, references'))
  union
  -- Operators, domains, casts, event triggers: no privilege tells who uses them.
  select 'p' || d.refobjid from dependency d where d.on_routine and d.user_node is null
),
edge as (
  select d.user_node as first, case when d.on_routine then 'p' else 'c' end || d.refobjid as second from dependency d where d.user_node is not null
  union
  select 'c' || h.inhparent, 'c' || h.inhrelid from pg_catalog.pg_inherits h
  union
  -- A change of the referenced row may change or delete rows that refer to it, with the rights of their owner.
  select 'c' || k.confrelid, 'c' || k.conrelid from pg_catalog.pg_constraint k where k.contype = 'f'
)
select
  (select coalesce(pg_catalog.json_agg(e.node), '[]') from entry e) as entries,
  (select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
      'node', 'p' || r.oid, 'oid', r.oid::text, 'name', r.proname, 'path', r.oid::pg_catalog.regprocedure::text, 'definer', r.prosecdef,
      'language', r.lanname, 'text', r.text)), '[]') from routine r) as routines,
  (select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('node', 'c' || r.oid, 'name', r.relname)), '[]') from relation r) as relations,
  (select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(e.first, e.second)), '[]') from edge e where e.first <> e.second) as edges
