-- What live queries may read of their caller: conditions and routines that run when a query reads.
--
-- $1: names of the exposed schemas. Nodes are relations, `c` with their oid, and routines, `p` with theirs. One row with
-- entries (nodes of exposed relations, and of exposed routines that only read), conditions (of policies for select, and of
-- views: node of the relation, kind, name of the policy or null, name of the relation, text, uses), routines (of users: node, name,
-- path, text, uses) and relations (node, name). Uses are nodes.
with relation as (
  select c.oid, c.relname, n.nspname, pg_catalog.format('%I.%I', n.nspname, c.relname) as path
  from pg_catalog.pg_class c
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'v', 'm', 'f', 'p') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
),
routine as (
  select p.oid, p.proname, n.nspname, p.provolatile,
    case when l.lanname in ('c', 'internal') then '' else coalesce(pg_catalog.pg_get_function_sqlbody(p.oid), p.prosrc) end as text
  from pg_catalog.pg_proc p
  join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  join pg_catalog.pg_language l on l.oid = p.prolang
  where n.nspname !~ '^pg_' and n.nspname not in ('information_schema', 'pgreflect')
    and p.prorettype not in ('pg_catalog.trigger'::pg_catalog.regtype, 'pg_catalog.event_trigger'::pg_catalog.regtype)
),
uses as (
  select d.classid, d.objid, pg_catalog.json_agg(distinct
    case when d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass then 'p' else 'c' end || d.refobjid) as nodes
  from pg_catalog.pg_depend d
  where d.refclassid in ('pg_catalog.pg_proc'::pg_catalog.regclass, 'pg_catalog.pg_class'::pg_catalog.regclass) and d.refobjid >= 16384
  group by d.classid, d.objid
),
condition as (
  select r.oid, 'policy' as kind, p.polname as name, r.path, pg_catalog.pg_get_expr(p.polqual, p.polrelid) as text, u.nodes
  from pg_catalog.pg_policy p
  join relation r on r.oid = p.polrelid
  left join uses u on u.classid = 'pg_catalog.pg_policy'::pg_catalog.regclass and u.objid = p.oid
  where p.polcmd in ('r', '*') and p.polqual is not null
  union all
  select r.oid, 'view', null, r.path, pg_catalog.pg_get_viewdef(r.oid), u.nodes
  from pg_catalog.pg_rewrite w
  join relation r on r.oid = w.ev_class
  join pg_catalog.pg_class c on c.oid = r.oid and c.relkind = 'v'
  left join uses u on u.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass and u.objid = w.oid
  where w.rulename = '_RETURN'
)
select
  (select coalesce(pg_catalog.json_agg(e.node), '[]') from (
    select 'c' || r.oid as node from relation r where r.nspname = any ($1::text[])
    union all
    select 'p' || r.oid from routine r where r.nspname = any ($1::text[]) and r.provolatile <> 'v'
  ) e) as entries,
  (select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('node', 'c' || c.oid, 'kind', c.kind, 'name', c.name, 'path', c.path,
      'text', c.text, 'uses', coalesce(c.nodes, '[]')) order by c.path, c.kind, c.name), '[]') from condition c) as conditions,
  (select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('node', 'p' || r.oid, 'name', r.proname,
      'path', r.oid::pg_catalog.regprocedure::text, 'text', r.text, 'uses', coalesce(u.nodes, '[]')) order by r.oid), '[]')
    from routine r
    left join uses u on u.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass and u.objid = r.oid) as routines,
  (select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('node', 'c' || r.oid, 'name', r.relname)), '[]') from relation r) as relations
