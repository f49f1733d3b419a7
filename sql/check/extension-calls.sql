-- What extensions made outside `pg_catalog`, and the texts of routines that may name it without its schema. Reads the catalog only.
--
-- One row: things (kind, name, schema, extension), homes (schemas in which there is something with the name of such a
-- function), routines (of users, with a text: oid, name with signature, text, path: their own setting or null, tables
-- whose triggers they are, isAuth: of a table of the auth service).
with member as materialized (
  select d.classid, d.objid, e.extname
  from pg_catalog.pg_depend d
  join pg_catalog.pg_extension e on e.oid = d.refobjid
  where d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass and d.deptype = 'e'
),
thing (kind, name, namespace, extname) as materialized (
  select 'function', p.proname, p.pronamespace, m.extname
  from member m join pg_catalog.pg_proc p on p.oid = m.objid and m.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass
  union
  select 'type', t.typname, t.typnamespace, m.extname
  from member m join pg_catalog.pg_type t on t.oid = m.objid and m.classid = 'pg_catalog.pg_type'::pg_catalog.regclass
  union
  select 'operator', o.oprname, o.oprnamespace, m.extname
  from member m join pg_catalog.pg_operator o on o.oid = m.objid and m.classid = 'pg_catalog.pg_operator'::pg_catalog.regclass
),
home (kind, name, nspname) as (
  select 'function', p.proname, n.nspname
  from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  where p.proname in (select t.name from thing t)
  union
  select 'type', p.typname, n.nspname
  from pg_catalog.pg_type p join pg_catalog.pg_namespace n on n.oid = p.typnamespace
  where p.typname in (select t.name from thing t)
  union
  select 'operator', p.oprname, n.nspname
  from pg_catalog.pg_operator p join pg_catalog.pg_namespace n on n.oid = p.oprnamespace
  where p.oprname in (select t.name from thing t)
),
trigger as (
  select g.tgfoid, pg_catalog.json_agg(g.tgrelid::pg_catalog.regclass::text order by g.tgrelid) as tables, pg_catalog.bool_or(n.nspname = 'auth') as is_auth
  from pg_catalog.pg_trigger g
  join pg_catalog.pg_class c on c.oid = g.tgrelid
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where not g.tgisinternal
  group by g.tgfoid
)
select
  (select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('kind', t.kind, 'name', t.name, 'schema', n.nspname, 'extension', t.extname)
      order by t.extname), '[]')
    from thing t join pg_catalog.pg_namespace n on n.oid = t.namespace where n.nspname <> 'pg_catalog') as things,
  (select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(h.kind, h.name, h.nspname)), '[]') from home h) as homes,
  (select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('oid', p.oid::text, 'name', p.oid::pg_catalog.regprocedure::text, 'text', p.prosrc,
      'path', (select pg_catalog.substr(c.setting, 13) from pg_catalog.unnest(p.proconfig) as c (setting) where c.setting like 'search_path=%'),
      'tables', coalesce(g.tables, '[]'), 'isAuth', coalesce(g.is_auth, false)) order by p.oid), '[]')
    from pg_catalog.pg_proc p
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace and n.nspname !~ '^pg_' and n.nspname not in ('information_schema', 'pgreflect')
    join pg_catalog.pg_language l on l.oid = p.prolang and l.lanname in ('sql', 'plpgsql')
    left join trigger g on g.tgfoid = p.oid
    where exists (select from thing) and p.oid not in (select m.objid from member m where m.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass)) as routines
