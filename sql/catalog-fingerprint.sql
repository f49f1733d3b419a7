-- One text that changes with everything a model depends on. Reads the setting `pgreflect.exposed` (exposed-names.sql), and sets
-- `pgreflect.snapshot` to the snapshot of this reading. Run again in the same transaction, it returns no row if nothing was committed
-- in between.
--
-- Each part is a count and a sum over rows, mostly of `xmin`, the transaction that wrote the row version. A sum does not depend on the
-- order of commits. `pg_class` is summed by content: `truncate`, `cluster` and `refresh materialized view` write new row versions
-- without a change that matters here.
with recursive
exposed as (
  select n.oid from pg_catalog.pg_namespace n where n.nspname = any (pg_catalog.current_setting('pgreflect.exposed')::pg_catalog.text[])
),
tables as materialized (
  select c.oid, c.relkind,
    pg_catalog.hashtextextended(pg_catalog.concat_ws('|', c.oid, c.relname, c.relnamespace, c.relkind, c.relowner, c.relrowsecurity, c.relhassubclass, c.relispartition, c.relhasrules, c.relacl), 0) as content
  from pg_catalog.pg_class c
  where c.relkind in ('r', 'v', 'm', 'f', 'p') and c.relnamespace in (select e.oid from exposed e)
),
-- What views read, at any depth: a view has the unique indexes of the table behind it.
behind_views (oid) as (
  select t.oid from tables t where t.relkind = 'v'
  union
  select d.refobjid
  from behind_views b
  join pg_catalog.pg_rewrite w on w.ev_class = b.oid
  join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass and d.objid = w.oid
    and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
),
related (oid) as materialized (
  select t.oid from tables t
  union
  select b.oid from behind_views b
),
columns as materialized (
  select a.atttypid, a.xmin::pg_catalog.text::pg_catalog.int8 as version
  from pg_catalog.pg_attribute a where a.attnum > 0 and a.attrelid in (select t.oid from tables t)
),
routines as materialized (
  select p.proargtypes, p.proallargtypes, p.prorettype, p.xmin::pg_catalog.text::pg_catalog.int8 as version
  from pg_catalog.pg_proc p where p.pronamespace in (select e.oid from exposed e)
),
used_types as (
  select c.atttypid as oid from columns c
  union select r.prorettype from routines r
  union select pg_catalog.unnest(coalesce(r.proallargtypes, r.proargtypes::pg_catalog.oid[])) from routines r
),
composites as materialized (
  select c.oid from pg_catalog.pg_class c where c.relkind = 'c'
),
types as materialized (
  -- Includes the elements of arrays: their access list applies to the array.
  select t.oid, t.typnamespace, t.xmin::pg_catalog.text::pg_catalog.int8 as version
  from pg_catalog.pg_type t
  where t.oid in (select u.oid from used_types u)
    or t.oid in (select a.typelem from pg_catalog.pg_type a where a.oid in (select u.oid from used_types u))
    -- A domain's base type may be a domain of any schema, and a composite type may have attributes of others.
    or t.typtype = 'd' or t.typrelid in (select c.oid from composites c)
    or t.typtype = 'e' and t.typnamespace in (select e.oid from exposed e)
),
parts (name, rows, version) as (
  select 'namespace', count(*), sum(n.xmin::pg_catalog.text::pg_catalog.int8)
  from pg_catalog.pg_namespace n where n.oid in (select e.oid from exposed e) or n.oid in (select t.typnamespace from types t)
  union all select 'class', count(*), sum(t.content) from tables t
  union all select 'attribute', count(*), sum(c.version) from columns c
  union all select 'attrdef', count(*), sum(d.xmin::pg_catalog.text::pg_catalog.int8)
    from pg_catalog.pg_attrdef d where d.adrelid in (select t.oid from tables t)
  union all select 'index', count(*), sum(i.xmin::pg_catalog.text::pg_catalog.int8 + pg_catalog.hashtext(c.relname)::pg_catalog.int8)
    -- An option of 1 or 2: nulls are in an unusual place.
    from pg_catalog.pg_index i join pg_catalog.pg_class c on c.oid = i.indexrelid
    where (i.indisunique or i.indexprs is not null or i.indpred is not null or i.indoption::pg_catalog.int2[] operator(pg_catalog.&&) '{1,2}') and i.indrelid in (select r.oid from related r)
  union all select 'constraint', count(*), sum(k.xmin::pg_catalog.text::pg_catalog.int8)
    from pg_catalog.pg_constraint k
    where k.contype = 'f' and k.confrelid in (select t.oid from tables t)
      or (k.contype in ('c', 'f', 'x') or k.contype = 'n' and not k.convalidated) and k.conrelid in (select t.oid from tables t)
  union all select 'type', count(*), sum(t.version) from types t
  union all select 'member', count(*), sum(a.xmin::pg_catalog.text::pg_catalog.int8)
    from pg_catalog.pg_attribute a where a.attnum > 0 and a.attrelid in (select c.oid from composites c)
  union all select 'enum', count(*), sum(l.xmin::pg_catalog.text::pg_catalog.int8)
    from pg_catalog.pg_enum l where l.enumtypid in (select t.oid from types t)
  union all select 'proc', count(*), sum(r.version) from routines r
  union all select 'rewrite', count(*), sum(w.xmin::pg_catalog.text::pg_catalog.int8)
    from pg_catalog.pg_rewrite w where w.ev_class in (select r.oid from related r)
  union all select 'trigger', count(*), sum(g.xmin::pg_catalog.text::pg_catalog.int8)
    from pg_catalog.pg_trigger g where not g.tgisinternal and g.tgrelid in (select r.oid from related r)
  union all select 'policy', count(*), sum(p.xmin::pg_catalog.text::pg_catalog.int8)
    from pg_catalog.pg_policy p where p.polrelid in (select t.oid from tables t)
  union all select 'statistics', count(*), sum(s.xmin::pg_catalog.text::pg_catalog.int8)
    from pg_catalog.pg_statistic_ext s where s.stxrelid in (select t.oid from tables t)
  union all select 'inherits', count(*), sum(i.xmin::pg_catalog.text::pg_catalog.int8)
    from pg_catalog.pg_inherits i where i.inhrelid in (select t.oid from tables t)
  union all select 'description', count(*), sum(d.xmin::pg_catalog.text::pg_catalog.int8)
    from pg_catalog.pg_description d
    -- PostgreSQL's own objects have lower oids; the schema "public" is one of them.
    where d.objoid >= 16384 or d.classoid = 'pg_catalog.pg_namespace'::pg_catalog.regclass
  union all select 'depend', count(*), sum(d.xmin::pg_catalog.text::pg_catalog.int8)
    from pg_catalog.pg_depend d join pg_catalog.pg_class q on q.oid = d.objid and q.relkind = 'S'
    where d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
      and d.refobjsubid > 0 and d.deptype in ('a', 'i') and d.refobjid in (select t.oid from tables t)
  -- Code of users that tables, views and types may use, of all schemas.
  union all select 'code', count(*), sum(f.xmin::pg_catalog.text::pg_catalog.int8) from pg_catalog.pg_proc f where f.oid >= 16384
  union all select 'operator', count(*), sum(o.xmin::pg_catalog.text::pg_catalog.int8) from pg_catalog.pg_operator o where o.oid >= 16384
  union all select 'opclass', count(*), sum(o.xmin::pg_catalog.text::pg_catalog.int8) from pg_catalog.pg_opclass o where o.oid >= 16384
  union all select 'amop', count(*), sum(o.xmin::pg_catalog.text::pg_catalog.int8) from pg_catalog.pg_amop o where o.oid >= 16384
  union all select 'cast', count(*), sum(c.xmin::pg_catalog.text::pg_catalog.int8) from pg_catalog.pg_cast c where c.oid >= 16384
  union all select 'collation', count(*), sum(l.xmin::pg_catalog.text::pg_catalog.int8) from pg_catalog.pg_collation l where l.oid >= 16384
  union all select 'foreign_server', count(*), sum(s.xmin::pg_catalog.text::pg_catalog.int8) from pg_catalog.pg_foreign_server s
  union all select 'foreign_data_wrapper', count(*), sum(w.xmin::pg_catalog.text::pg_catalog.int8) from pg_catalog.pg_foreign_data_wrapper w
  union all select 'event_trigger', count(*), sum(v.xmin::pg_catalog.text::pg_catalog.int8)
    from pg_catalog.pg_event_trigger v where v.evtname in ('pgreflect_ddl', 'pgreflect_drop')
  -- It may be on the search path.
  union all select 'extensions', count(*), sum(n.xmin::pg_catalog.text::pg_catalog.int8)
    from pg_catalog.pg_namespace n where n.nspname = 'extensions'
  union all select 'event_triggers', case pg_catalog.current_setting('event_triggers', true) when 'off' then 0 else 1 end, 0
),
of_server (name, rows, version) as (
  select 'auth_members', count(*), sum(m.xmin::pg_catalog.text::pg_catalog.int8) from pg_catalog.pg_auth_members m
  union all select 'db_role_setting', count(*), sum(s.xmin::pg_catalog.text::pg_catalog.int8)
    from pg_catalog.pg_db_role_setting s
    where s.setdatabase in (0, (select d.oid from pg_catalog.pg_database d where d.datname = pg_catalog.current_database()))
  union all select 'roles', count(*), sum(pg_catalog.hashtextextended(pg_catalog.concat_ws('|', r.oid, r.rolname, r.rolsuper, r.rolinherit, r.rolbypassrls, r.rolcreaterole, r.rolcanlogin), 0))
    from pg_catalog.pg_roles r
  -- `alter database … owner` updates this row.
  union all select 'database', 1, d.datdba::pg_catalog.int8 from pg_catalog.pg_database d where d.datname = pg_catalog.current_database()
)
select v.objects, pg_catalog.md5(v.objects || v.of_server || pg_catalog.current_setting('pgreflect.exposed')) as fingerprint, v.memberships,
  pg_catalog.set_config('pgreflect.snapshot', pg_catalog.pg_current_snapshot()::pg_catalog.text, true) as snapshot
from (
  select
    (select pg_catalog.md5(pg_catalog.string_agg(pg_catalog.concat_ws(':', p.name, p.rows, p.version), ' ' order by p.name)) from parts p) as objects,
    (select pg_catalog.string_agg(pg_catalog.concat_ws(':', p.name, p.rows, p.version), ' ' order by p.name) from of_server p) as of_server,
    (select (count(*) + coalesce(sum(m.xmin::pg_catalog.text::pg_catalog.int8), 0))::pg_catalog.text from pg_catalog.pg_auth_members m) as memberships
  where pg_catalog.current_setting('pgreflect.snapshot', true) is distinct from pg_catalog.pg_current_snapshot()::pg_catalog.text
  -- Otherwise PostgreSQL would compute each of them at every use.
  offset 0
) v
