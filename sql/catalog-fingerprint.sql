-- One text that changes with everything a model depends on, and hashes of its parts: of each table, and of all that belongs to no table.
-- Reads the settings `pgreflect.exposed` (exposed-names.sql) and `pgreflect.known`, a known text: the hashes are null if it is the same.
-- Sets `pgreflect.snapshot` to the snapshot of this reading. If that is set to the snapshot of an earlier one, there is no row if nothing
-- was committed in between. It has no parameter, because PostgreSQL would plan it anew each time.
--
-- Each part is a count and a sum over rows, mostly of `xmin`, the transaction that wrote the row version. A sum does not depend on the
-- order of commits, and rows that replace as many others have a larger one. `pg_class` is summed by content: `truncate`, `cluster` and
-- `refresh materialized view` write new row versions without a change that matters here.
with recursive
exposed as (
  select n.oid from pg_catalog.pg_namespace n where n.nspname = any (pg_catalog.current_setting('pgreflect.exposed')::pg_catalog.text[])
),
classes as materialized (
  select c.oid, c.relkind, c.relnamespace in (select e.oid from exposed e) as is_exposed,
    pg_catalog.hashtextextended(pg_catalog.concat_ws('|', c.relname, c.relnamespace, c.relkind, c.relowner, c.relrowsecurity, c.relhassubclass, c.relispartition, c.relhasrules, c.relacl), 0) as content,
    c.xmin::pg_catalog.text::pg_catalog.int8 as version
  from pg_catalog.pg_class c
  where c.relkind in ('r', 'v', 'm', 'f', 'p')
),
tables as (
  select c.oid, c.relkind from classes c where c.is_exposed
),
-- What views and policies read, and child tables, at any depth: a view has the unique indexes of the table behind it, and all are planned.
behind (oid) as (
  select t.oid from tables t
  where t.oid in (
    select w.ev_class from pg_catalog.pg_rewrite w union all select y.polrelid from pg_catalog.pg_policy y
    union all select i.inhparent from pg_catalog.pg_inherits i
  )
  union
  select part.oid
  from behind b
  cross join lateral (
    select d.refobjid
    from pg_catalog.pg_rewrite w
    join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass and d.objid = w.oid
      and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
    where w.ev_class = b.oid
    union all
    select d.refobjid
    from pg_catalog.pg_policy y
    join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_policy'::pg_catalog.regclass and d.objid = y.oid
      and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
    where y.polrelid = b.oid
    union all
    select i.inhrelid from pg_catalog.pg_inherits i where i.inhparent = b.oid
  ) part (oid)
),
related (oid) as materialized (
  select t.oid from tables t
  union
  select b.oid from behind b
),
columns as materialized (
  select a.attrelid, a.atttypid, count(*) as rows, sum(a.xmin::pg_catalog.text::pg_catalog.int8)::pg_catalog.int8 as version
  from pg_catalog.pg_attribute a where a.attnum > 0 and a.attrelid in (select r.oid from related r)
  group by a.attrelid, a.atttypid
),
routines as materialized (
  select p.oid, p.proargtypes, p.proallargtypes, p.prorettype, p.xmin::pg_catalog.text::pg_catalog.int8 as version
  from pg_catalog.pg_proc p where p.pronamespace in (select e.oid from exposed e)
),
used_types as (
  select c.atttypid as oid from columns c where c.attrelid in (select t.oid from tables t)
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
of_tables (relid, rows, version) as (
  select c.oid, 1, c.content from classes c where c.oid in (select r.oid from related r)
  union all select c.attrelid, c.rows, c.version from columns c
  union all select d.adrelid, 1, d.xmin::pg_catalog.text::pg_catalog.int8
    from pg_catalog.pg_attrdef d where d.adrelid in (select t.oid from tables t)
  union all select i.indrelid, 1, i.xmin::pg_catalog.text::pg_catalog.int8 + pg_catalog.hashtext(c.relname)::pg_catalog.int8
    -- An option of 1 or 2: nulls are in an unusual place.
    from pg_catalog.pg_index i join pg_catalog.pg_class c on c.oid = i.indexrelid
    where (i.indisunique or i.indexprs is not null or i.indpred is not null or i.indoption::pg_catalog.int2[] operator(pg_catalog.&&) '{1,2}') and i.indrelid in (select r.oid from related r)
  union all select k.conrelid, 1, k.xmin::pg_catalog.text::pg_catalog.int8
    from pg_catalog.pg_constraint k
    where (k.contype in ('c', 'f', 'x') or k.contype = 'n' and not k.convalidated) and k.conrelid in (select t.oid from tables t)
  -- A foreign key belongs to both of its tables.
  union all select k.confrelid, 1, k.xmin::pg_catalog.text::pg_catalog.int8
    from pg_catalog.pg_constraint k where k.contype = 'f' and k.confrelid in (select t.oid from tables t)
  union all select w.ev_class, 1, w.xmin::pg_catalog.text::pg_catalog.int8
    from pg_catalog.pg_rewrite w where w.ev_class in (select r.oid from related r)
  union all select g.tgrelid, 1, g.xmin::pg_catalog.text::pg_catalog.int8
    from pg_catalog.pg_trigger g where not g.tgisinternal and g.tgrelid in (select r.oid from related r)
  union all select p.polrelid, 1, p.xmin::pg_catalog.text::pg_catalog.int8
    from pg_catalog.pg_policy p where p.polrelid in (select r.oid from related r)
  union all select s.stxrelid, 1, s.xmin::pg_catalog.text::pg_catalog.int8
    from pg_catalog.pg_statistic_ext s where s.stxrelid in (select t.oid from tables t)
  union all select i.inhrelid, 1, i.xmin::pg_catalog.text::pg_catalog.int8
    from pg_catalog.pg_inherits i where i.inhrelid in (select t.oid from tables t)
  union all select i.inhparent, 1, i.xmin::pg_catalog.text::pg_catalog.int8
    from pg_catalog.pg_inherits i where i.inhparent in (select r.oid from related r)
  union all select f.ftrelid, 1, f.xmin::pg_catalog.text::pg_catalog.int8
    from pg_catalog.pg_foreign_table f where f.ftrelid in (select t.oid from tables t)
  union all select d.objoid, 1, d.xmin::pg_catalog.text::pg_catalog.int8
    from pg_catalog.pg_description d
    where d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.objoid in (select t.oid from tables t)
  union all select k.conrelid, 1, d.xmin::pg_catalog.text::pg_catalog.int8
    from pg_catalog.pg_description d join pg_catalog.pg_constraint k on k.oid = d.objoid
    where d.classoid = 'pg_catalog.pg_constraint'::pg_catalog.regclass and k.conrelid in (select t.oid from tables t)
  union all select d.refobjid, 1,
    d.xmin::pg_catalog.text::pg_catalog.int8 + pg_catalog.hashtext(pg_catalog.concat_ws('|', q.relname, q.relnamespace, q.relowner, q.relacl))::pg_catalog.int8
    from pg_catalog.pg_depend d join pg_catalog.pg_class q on q.oid = d.objid and q.relkind = 'S'
    where d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
      and d.refobjsubid > 0 and d.deptype in ('a', 'i') and d.refobjid in (select t.oid from tables t)
),
hashes as materialized (
  select p.relid, pg_catalog.hashtextextended(pg_catalog.concat_ws('|', p.relid, sum(p.rows), sum(p.version)), 0) as hash
  from of_tables p group by p.relid
),
parts (name, rows, version) as (
  select 'namespace', count(*), sum(n.xmin::pg_catalog.text::pg_catalog.int8)
  from pg_catalog.pg_namespace n where n.oid in (select e.oid from exposed e) or n.oid in (select t.typnamespace from types t)
  union all select 'type', count(*), sum(t.version) from types t
  union all select 'used_type', count(*), sum(u.oid::pg_catalog.int8) from used_types u
  union all select 'member', count(*), sum(a.xmin::pg_catalog.text::pg_catalog.int8)
    from pg_catalog.pg_attribute a where a.attnum > 0 and a.attrelid in (select c.oid from composites c)
  union all select 'enum', count(*), sum(l.xmin::pg_catalog.text::pg_catalog.int8)
    from pg_catalog.pg_enum l where l.enumtypid in (select t.oid from types t)
  union all select 'proc', count(*), sum(r.version) from routines r
  union all select 'description', count(*), sum(d.xmin::pg_catalog.text::pg_catalog.int8)
    from pg_catalog.pg_description d
    where d.classoid = 'pg_catalog.pg_namespace'::pg_catalog.regclass and d.objoid in (select e.oid from exposed e)
      or d.classoid = 'pg_catalog.pg_proc'::pg_catalog.regclass and d.objoid in (select r.oid from routines r)
      or d.classoid = 'pg_catalog.pg_type'::pg_catalog.regclass and d.objoid in (select t.oid from types t)
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
select v.objects, v.fingerprint, v.memberships,
  case when v.fingerprint is distinct from pg_catalog.current_setting('pgreflect.known') then v.common end as common,
  case when v.fingerprint is distinct from pg_catalog.current_setting('pgreflect.known') then (
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(h.relid::pg_catalog.text, pg_catalog.to_hex(h.hash))), '[]') from hashes h
  ) end as tables,
  pg_catalog.set_config('pgreflect.snapshot', pg_catalog.pg_current_snapshot()::pg_catalog.text, true) as snapshot
from (
  select p.common, p.memberships,
    -- With the versions of tables, for the time of one reading: a table may be renamed, read, and renamed back.
    pg_catalog.md5(p.tables || p.common || (select coalesce(sum(c.version), 0) from classes c where c.is_exposed)) as objects,
    pg_catalog.md5(p.tables || p.common || p.of_server) as fingerprint
  from (
    select
      (select pg_catalog.concat_ws(':', count(*), sum(h.hash)) from hashes h) as tables,
      (select pg_catalog.md5(pg_catalog.string_agg(pg_catalog.concat_ws(':', p.name, p.rows, p.version), ' ' order by p.name)
        || pg_catalog.current_setting('pgreflect.exposed')) from parts p) as common,
      (select pg_catalog.string_agg(pg_catalog.concat_ws(':', p.name, p.rows, p.version), ' ' order by p.name) from of_server p) as of_server,
      (select (count(*) + coalesce(sum(m.xmin::pg_catalog.text::pg_catalog.int8), 0))::pg_catalog.text from pg_catalog.pg_auth_members m) as memberships
    where pg_catalog.current_setting('pgreflect.snapshot', true) is distinct from pg_catalog.pg_current_snapshot()::pg_catalog.text
    -- Otherwise PostgreSQL would compute each of them at every use.
    offset 0
  ) p
  offset 0
) v
