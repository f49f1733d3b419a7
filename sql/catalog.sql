-- Reads the exposed part of the catalog, a JSON text for each part: rows under PostgreSQL's own names, with the columns that the model
-- uses. Many columns come in several texts, because reading a long one holds up other requests.
-- Reads the settings `pgreflect.exposed` (exposed-names.sql) and `pgreflect.tables`: oids of the tables to read, with the views over
-- them; if empty, all are read, and what belongs to no table. Run with a search path of pg_catalog, so that expressions and types are
-- printed with their namespaces.
--
-- Privileges are read as access lists. Many objects share a list, so an object has the number of its list. Functions such as
-- has_table_privilege() would use a newer catalog than the rows.
with recursive
exposed (oid, position) as (
  select n.oid, w.position
  from pg_catalog.unnest(pg_catalog.current_setting('pgreflect.exposed')::pg_catalog.text[]) with ordinality w (name, position)
  join pg_catalog.pg_namespace n on n.nspname = w.name
),
changed (oid) as (
  select u.oid::pg_catalog.oid from pg_catalog.unnest(pg_catalog.string_to_array(pg_catalog.current_setting('pgreflect.tables'), ',')) u (oid)
  union
  select w.ev_class
  from changed c
  join pg_catalog.pg_depend d on d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refobjid = c.oid
    and d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
  join pg_catalog.pg_rewrite w on w.oid = d.objid
),
all_tables as materialized (
  select c.oid, c.relname, c.relnamespace, c.relkind, c.relrowsecurity, c.relhassubclass, c.relispartition, c.relhasrules,
    coalesce(c.relacl, pg_catalog.acldefault('r', c.relowner)) as list
  from pg_catalog.pg_class c
  where c.relkind in ('r', 'v', 'm', 'f', 'p') and c.relnamespace in (select e.oid from exposed e)
),
tables as materialized (
  select t.* from all_tables t
  where pg_catalog.current_setting('pgreflect.tables') = '' or t.oid in (select c.oid from changed c)
),
columns as materialized (
  select a.attrelid, a.attnum, a.attname, a.atttypid, a.atttypmod, a.attidentity, a.attgenerated, a.atthasdef, a.attcollation,
    a.attacl as list,
    -- Since PostgreSQL 18 a row may be older than the constraint.
    a.attnotnull and not exists (
      select from pg_catalog.pg_constraint k
      where k.contype = 'n' and not k.convalidated and k.conrelid = a.attrelid and k.conkey[1] = a.attnum
    ) as attnotnull
  from pg_catalog.pg_attribute a
  -- An array, of which PostgreSQL expects few: by index, as there usually are.
  where a.attrelid = any (array(select t.oid from tables t)) and a.attnum > 0 and not a.attisdropped
),
sequences as materialized (
  -- Owned by columns. `is_default`: the column gets its numbers, and the sequence is in the schema of the table.
  select a.attrelid, a.attnum, s.relname, coalesce(s.relacl, pg_catalog.acldefault('s', s.relowner)) as list,
    s.relnamespace = t.relnamespace and (a.attidentity = 'd' or a.attidentity = '' and exists (
      select from pg_catalog.pg_attrdef f
      where f.adrelid = a.attrelid and f.adnum = a.attnum
        and pg_catalog.pg_get_expr(f.adbin, f.adrelid) = pg_catalog.format('nextval(%L::regclass)', s.oid::pg_catalog.regclass)
    )) as is_default
  from pg_catalog.pg_depend d
  join pg_catalog.pg_class s on s.oid = d.objid and s.relkind = 'S'
  join columns a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
  join tables t on t.oid = a.attrelid
  where d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
    and d.deptype in ('a', 'i')
),
routines as materialized (
  select p.oid, p.proname, p.pronamespace, p.prokind, p.prorettype, p.proretset, p.prorows, p.provolatile, p.provariadic,
         p.pronargs, p.pronargdefaults, p.proargtypes, p.proallargtypes, p.proargmodes, p.proargnames, p.proargdefaults,
         coalesce(p.proacl, pg_catalog.acldefault('f', p.proowner)) as list,
         exists (
           select from pg_catalog.pg_depend d
           where d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass and d.objid = p.oid and d.deptype = 'e') as of_extension
  from pg_catalog.pg_proc p
  where p.pronamespace in (select e.oid from exposed e)
),
-- Foreign tables whose wrapper has no handler, and views over them: they can be neither read nor written, and PostgreSQL
-- fails if it is asked whether they can.
unreachable (oid) as (
  select ft.ftrelid
  from pg_catalog.pg_foreign_table ft
  join pg_catalog.pg_foreign_server s on s.oid = ft.ftserver
  join pg_catalog.pg_foreign_data_wrapper w on w.oid = s.srvfdw and w.fdwhandler = 0
  union
  select r.ev_class
  from unreachable u
  join pg_catalog.pg_depend d on d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refobjid = u.oid
    and d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
  join pg_catalog.pg_rewrite r on r.oid = d.objid
),
used_types (oid) as (
  -- An array, of which PostgreSQL expects few elements. Otherwise it expects two million rows here and clears 16 MB for their hash table.
  select u.oid
  from pg_catalog.unnest(array(
    select c.atttypid from columns c
    union select r.prorettype from routines r
    union select pg_catalog.unnest(coalesce(r.proallargtypes, r.proargtypes::pg_catalog.oid[])) from routines r
    union select t.oid from pg_catalog.pg_type t where t.typtype = 'e' and t.typnamespace in (select e.oid from exposed e)
  )) u (oid)
  union
  -- Elements of arrays, base types of domains and attributes of composite types. Types such as point have a `typelem`, too,
  -- which adds rows that do no harm.
  select part.oid
  from used_types u
  join pg_catalog.pg_type t on t.oid = u.oid
  cross join lateral (
    values (t.typelem), (t.typbasetype)
    union all
    select a.atttypid
    from pg_catalog.pg_class c
    join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.oid = t.typrelid and c.relkind = 'c'
  ) part (oid)
  where part.oid <> 0
),
types as materialized (
  select t.oid, t.typname, t.typnamespace, t.typtype, t.typrelid, t.typelem, t.typarray, t.typdelim, t.typbasetype, t.typtypmod, t.typnotnull, t.typdefault, t.typowner,
    t.typsubscript = 'pg_catalog.array_subscript_handler'::pg_catalog.regproc as is_array, coalesce(g.typacl, pg_catalog.acldefault('T', g.typowner)) as list
  from pg_catalog.pg_type t
  -- An array has the privileges of its element. Since PostgreSQL 17, a multirange has those of its range.
  join pg_catalog.pg_type e
    on e.oid = case t.typsubscript when 'pg_catalog.array_subscript_handler'::pg_catalog.regproc then t.typelem else t.oid end
  left join pg_catalog.pg_range m
    on m.rngmultitypid = e.oid and pg_catalog.current_setting('server_version_num')::pg_catalog.int4 >= 170000
  join pg_catalog.pg_type g on g.oid = coalesce(m.rngtypid, e.oid)
  where t.oid in (select u.oid from used_types u)
),
namespaces as (
  select n.oid, n.nspname, e.position, coalesce(n.nspacl, pg_catalog.acldefault('n', n.nspowner)) as list
  from pg_catalog.pg_namespace n
  left join exposed e on e.oid = n.oid
  where e.oid is not null or n.oid in (select t.typnamespace from types t)
),
foreign_keys as (
  -- A key to a partitioned table has a copy per partition, on the same local table: not read. Copies on partitions of the local
  -- table are read.
  select k.oid, k.conname, k.connamespace, k.conrelid, k.confrelid, k.conkey, k.confkey, k.convalidated, k.condeferrable
  from pg_catalog.pg_constraint k
  where k.contype = 'f' and k.confrelid in (select t.oid from all_tables t)
    and (k.conrelid in (select t.oid from tables t) or k.confrelid in (select t.oid from tables t))
    -- Since PostgreSQL 18, with `period`: the rows have no equal values.
    and (pg_catalog.to_jsonb(k) ->> 'conperiod')::pg_catalog.bool is not true
    and not exists (
      select from pg_catalog.pg_constraint parent where parent.oid = k.conparentid and parent.conrelid = k.conrelid
    )
),
-- The objects that PostgreSQL uses when it plans or runs a statement on a table. Bits: 1 when the table is read, 2 when it is
-- written. `is_code`: always runs user code.
attached (relid, class, object, bits, is_code, expressions) as (
  select t.oid, 'pg_catalog.pg_class'::pg_catalog.regclass, t.oid, 3, t.relkind in ('v', 'f', 'p') or t.relhassubclass, null::pg_catalog.text
  from tables t
  union all
  select p.polrelid, 'pg_catalog.pg_policy'::pg_catalog.regclass, p.oid, 3, false, pg_catalog.concat_ws(' ', p.polqual, p.polwithcheck)
  from pg_catalog.pg_policy p where p.polrelid in (select t.oid from tables t)
  union all
  select i.indrelid, 'pg_catalog.pg_class'::pg_catalog.regclass, i.indexrelid, 3, false, pg_catalog.concat_ws(' ', i.indexprs, i.indpred)
  from pg_catalog.pg_index i where i.indrelid in (select t.oid from tables t)
  union all
  select k.conrelid, 'pg_catalog.pg_constraint'::pg_catalog.regclass, k.oid, 3, false, k.conbin::pg_catalog.text
  from pg_catalog.pg_constraint k where k.contype in ('c', 'x') and k.conrelid in (select t.oid from tables t)
  union all
  select s.stxrelid, 'pg_catalog.pg_statistic_ext'::pg_catalog.regclass, s.oid, 3, false, s.stxexprs::pg_catalog.text
  from pg_catalog.pg_statistic_ext s where s.stxrelid in (select t.oid from tables t)
  union all
  select d.adrelid, 'pg_catalog.pg_attrdef'::pg_catalog.regclass, d.oid, case a.attgenerated when 'v' then 3 else 2 end, false, d.adbin::pg_catalog.text
  from pg_catalog.pg_attrdef d
  join pg_catalog.pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
  where d.adrelid in (select t.oid from tables t)
  union all
  -- Keys that write other tables.
  select k.confrelid, 'pg_catalog.pg_constraint'::pg_catalog.regclass, k.oid, 2, true, null
  from pg_catalog.pg_constraint k
  where k.contype = 'f' and (k.confdeltype not in ('a', 'r') or k.confupdtype not in ('a', 'r')) and k.confrelid in (select t.oid from tables t)
  union all
  select g.tgrelid, 'pg_catalog.pg_trigger'::pg_catalog.regclass, g.oid, 2, true, null
  from pg_catalog.pg_trigger g where not g.tgisinternal and g.tgrelid in (select t.oid from tables t)
  union all
  select w.ev_class, 'pg_catalog.pg_rewrite'::pg_catalog.regclass, w.oid, 2, true, null
  from pg_catalog.pg_rewrite w where w.ev_class in (select t.oid from tables t)
),
-- include harmless.sql
-- Bits of PostgreSQL's command numbers: 4 update, 8 insert, 16 delete. Called only if nothing else gives the answer, because
-- the function waits for exclusive locks.
updatable as materialized (
  select t.oid, pg_catalog.pg_relation_is_updatable(t.oid, true) as mask
  from tables t
  where t.relkind in ('v', 'f') and t.oid not in (select u.oid from unreachable u)
),
-- Insertable views, and all relations behind them.
behind_views (oid) as (
  select u.oid from updatable u where u.mask & 8 <> 0
  union
  select d.refobjid
  from behind_views b
  join pg_catalog.pg_rewrite w on w.ev_class = b.oid
  join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass and d.objid = w.oid
    and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
),
-- What PostgreSQL plans in place of a table: queries of views, conditions of policies, child tables, at any depth.
planned (oid) as (
  select t.oid from all_tables t
  where t.oid in (
    select w.ev_class from pg_catalog.pg_rewrite w union all select y.polrelid from pg_catalog.pg_policy y
    union all select i.inhparent from pg_catalog.pg_inherits i
  )
  union
  select part.oid
  from planned p
  cross join lateral (
    select d.refobjid
    from pg_catalog.pg_rewrite w
    join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass and d.objid = w.oid
      and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
    where w.ev_class = p.oid and w.rulename = '_RETURN'
    union all
    select d.refobjid
    from pg_catalog.pg_policy y
    join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_policy'::pg_catalog.regclass and d.objid = y.oid
      and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
    where y.polrelid = p.oid and y.polcmd in ('r', '*')
    union all
    select i.inhrelid from pg_catalog.pg_inherits i where i.inhparent = p.oid
  ) part (oid)
),
lists as materialized (
  select u.list, pg_catalog.row_number() over () - 1 as number
  from (
    select t.list from tables t
    union select c.list from columns c where c.list is not null
    union select s.list from sequences s
    union
    select o.list
    from (select n.list from namespaces n union all select r.list from routines r union all select t.list from types t) o
    where pg_catalog.current_setting('pgreflect.tables') = ''
  ) u
)
select p.name, p.rows::pg_catalog.text
from (values
  ('all_tables', (
    select coalesce(pg_catalog.json_agg(t.oid::pg_catalog.text order by e.position, t.oid), '[]')
    from all_tables t join exposed e on e.oid = t.relnamespace
  )),
  ('classes', (
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
      '_id', t.oid::pg_catalog.text, 'relname', t.relname, 'relnamespace', t.relnamespace::pg_catalog.text, 'relkind', t.relkind,
      'relrowsecurity', t.relrowsecurity, 'relhassubclass', t.relhassubclass, 'relispartition', t.relispartition, 'relhasrules', t.relhasrules,
      -- Bits of a trigger: 1 for each row, 2 before, 4 insert.
      'changesInserts', exists (
        select from pg_catalog.pg_trigger g where g.tgrelid = t.oid and g.tgtype & 7 = 7 and g.tgenabled <> 'D'
      ),
      'partitionOf', case when t.relispartition then (
        select i.inhparent::pg_catalog.text from pg_catalog.pg_inherits i where i.inhrelid = t.oid
      ) end,
      'updatable_mask', case when t.relkind in ('r', 'p') then 28 else coalesce(u.mask, 0) end, 'list', l.number
    ) order by e.position, t.oid), '[]')
    from tables t join exposed e on e.oid = t.relnamespace join lists l on l.list = t.list left join updatable u on u.oid = t.oid
  )),
  ('constraints', (
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
      '_id', k.oid::pg_catalog.text, 'conname', k.conname, 'connamespace', k.connamespace::pg_catalog.text, 'contype', 'f',
      'conrelid', k.conrelid::pg_catalog.text, 'confrelid', k.confrelid::pg_catalog.text, 'conkey', k.conkey, 'confkey', k.confkey,
      'convalidated', k.convalidated, 'condeferrable', k.condeferrable
    ) order by k.oid), '[]')
    from foreign_keys k
  )),
  ('constraint_columns', (
    -- Of checks, foreign keys and exclusions; 0 stands for whole rows and expressions.
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(k.conrelid::pg_catalog.text, k.conname, coalesce(k.conkey, '{}'))
      order by k.oid), '[]')
    from pg_catalog.pg_constraint k
    where k.contype in ('c', 'f', 'x') and k.conrelid in (select t.oid from tables t)
  )),
  ('indexes', (
    -- Printed expressions have brackets around every operation.
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
      'indexrelid', i.indexrelid::pg_catalog.text, 'relname', c.relname, 'indrelid', i.indrelid::pg_catalog.text, 'indisprimary', i.indisprimary,
      'indisvalid', i.indisvalid, 'indimmediate', i.indimmediate, 'indisexclusion', i.indisexclusion, 'indkey', i.indkey::pg_catalog.int2[], 'indnkeyatts', i.indnkeyatts,
      'indexprs', case when i.indexprs is not null then (
        select pg_catalog.json_agg(pg_catalog.pg_get_indexdef(i.indexrelid, k.number::pg_catalog.int4, false) order by k.number)
        from pg_catalog.unnest(i.indkey::pg_catalog.int2[]) with ordinality k (attnum, number) where k.attnum = 0
      ) end,
      'indpred', case when i.indpred is not null then coalesce(pg_catalog.pg_get_expr(i.indpred, i.indrelid), '') end,
      'columns', case when i.indexprs is not null or i.indpred is not null then (
        select pg_catalog.json_object_agg(a.attname, a.attnum)
        from pg_catalog.pg_attribute a where a.attrelid = i.indrelid and a.attnum > 0 and not a.attisdropped
      ) end,
      'nullsNotDistinct', coalesce((pg_catalog.to_jsonb(i) ->> 'indnullsnotdistinct')::pg_catalog.bool, false), 'hasRules', t.relhasrules,
      'hasChildTables', t.relkind = 'r' and t.relhassubclass
    ) order by i.indexrelid), '[]')
    from pg_catalog.pg_index i
    join pg_catalog.pg_class c on c.oid = i.indexrelid
    join pg_catalog.pg_class t on t.oid = i.indrelid
    where i.indisunique and i.indrelid = any (array(select t.oid from tables t union select b.oid from behind_views b))
  )),
  ('view_queries', (
    -- Of views that PostgreSQL itself passes inserts through, without rules or triggers of their own.
    -- An array, because PostgreSQL expects few views and would go through all of them for each.
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(w.ev_class::pg_catalog.text, w.ev_action)), '[]')
    from pg_catalog.pg_rewrite w
    where w.rulename = '_RETURN' and w.ev_class = any (array(select b.oid from behind_views b))
      and not exists (select from pg_catalog.pg_rewrite o where o.ev_class = w.ev_class and o.oid <> w.oid)
      and not exists (select from pg_catalog.pg_trigger g where g.tgrelid = w.ev_class and g.tgtype & 64 <> 0)
  )),
  ('planned', (
    -- Table, length of what is planned in its place, the tables named there, and its children. Joins repeat their
    -- columns, which is not counted in long queries. Regular expressions would take longer.
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(o.oid::pg_catalog.text,
      case when pg_catalog.octet_length(o.tree) < 20000 then pg_catalog.octet_length(o.tree) else (
        select coalesce(sum(pg_catalog.length(pg_catalog.substr(j.part, pg_catalog.strpos(j.part, ':joinleftcols')))), 0)
        from pg_catalog.unnest(pg_catalog.string_to_array(o.tree, ':joinaliasvars ')) j (part)
      ) end,
      array(select r.relid from (
          select pg_catalog.split_part(p.part, ' ', 1), p.number
          from pg_catalog.unnest(pg_catalog.string_to_array(o.tree, ':rtekind 0 :relid ')) with ordinality p (part, number)
        ) r (relid, number) where r.number > 1 and r.relid <> o.oid::pg_catalog.text),
      o.children)), '[]')
    from (
      select p.oid,
        (select pg_catalog.string_agg(q.tree, ' ') from (
          select w.ev_action::pg_catalog.text from pg_catalog.pg_rewrite w where w.ev_class = p.oid and w.rulename = '_RETURN'
          union all
          select y.polqual::pg_catalog.text from pg_catalog.pg_policy y where y.polrelid = p.oid and y.polcmd in ('r', '*')
        ) q (tree)) as tree,
        array(select i.inhrelid::pg_catalog.text from pg_catalog.pg_inherits i where i.inhparent = p.oid) as children
      from planned p
      offset 0
    ) o
    where o.tree is not null or o.children <> '{}'
  )),
  ('sql_routines', (
    -- Functions in SQL and the beginning of their text: PostgreSQL plans it where they are called.
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(r.oid::pg_catalog.text, r.proname,
      coalesce(pg_catalog.left(case when p.prosqlbody is null then p.prosrc else pg_catalog.pg_get_function_sqlbody(p.oid) end, 20000), ''))), '[]')
    from routines r
    join pg_catalog.pg_proc p on p.oid = r.oid
    join pg_catalog.pg_language l on l.oid = p.prolang and l.lanname = 'sql'
    where r.prokind = 'f' and not r.of_extension
  )),
  ('owned_sequences', (
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(s.attrelid::pg_catalog.text, s.attnum,
      case when s.is_default then s.relname end, l.number)), '[]')
    from sequences s join lists l on l.list = s.list
  )),
  ('unusual_null_orders', (
    -- Columns of indexes that put nulls last where they descend or first where they ascend. Bits of an option: 1 descends, 2 nulls first.
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(u.indrelid::pg_catalog.text, u.attnum)), '[]')
    from (
      select distinct i.indrelid, k.attnum
      from pg_catalog.pg_index i
      cross join lateral rows from (pg_catalog.unnest(i.indkey::pg_catalog.int2[]), pg_catalog.unnest(i.indoption::pg_catalog.int2[])) k (attnum, option)
      where k.option in (1, 2) and i.indrelid in (select t.oid from tables t)
    ) u
  )),
  ('descriptions', (
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
      'catalog', c.relname, 'objoid', d.objoid::pg_catalog.text, 'objsubid', d.objsubid, 'description', d.description
    )), '[]')
    from pg_catalog.pg_description d
    join pg_catalog.pg_class c on c.oid = d.classoid
    where d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.objoid in (select t.oid from tables t)
      or d.classoid = 'pg_catalog.pg_constraint'::pg_catalog.regclass and d.objoid in (select k.oid from foreign_keys k)
  )),
  ('user_code', (
    -- By dependencies of the parts of a table. PostgreSQL records none on its own objects.
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(u.relid::pg_catalog.text, u.bits)), '[]')
    from (
      select o.relid, pg_catalog.bit_or(o.bits) as bits
      from (select o.*, o.is_code or o.expressions ~ r.pattern as runs from attached o cross join runners r offset 0) o
      left join lateral (
        select d.refclassid, d.refobjid from pg_catalog.pg_depend d where d.classid = o.class and d.objid = o.object offset 0
      ) d on true
      where o.runs
        or d.refclassid in ('pg_catalog.pg_operator'::pg_catalog.regclass, 'pg_catalog.pg_opclass'::pg_catalog.regclass,
          'pg_catalog.pg_opfamily'::pg_catalog.regclass, 'pg_catalog.pg_cast'::pg_catalog.regclass)
        or d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass and d.refobjid not in (select f.oid from harmless_functions f)
        or d.refclassid = 'pg_catalog.pg_type'::pg_catalog.regclass and d.refobjid not in (select y.oid from harmless_types y)
        or d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass and o.object <> o.relid and d.refobjid <> o.relid
          and d.refobjid not in (select q.oid from pg_catalog.pg_class q where q.relkind = 'S')
      group by o.relid
    ) u
  )),
  ('column_defaults', (
    -- With the name of PostgreSQL's function, where the default is a random UUID.
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(c.attrelid::pg_catalog.text, c.attnum, (
      select p.proname
      from pg_catalog.pg_attrdef f
      join pg_catalog.pg_proc p
        on p.oid::pg_catalog.text = pg_catalog.substring(f.adbin::pg_catalog.text, '^\{FUNCEXPR :funcid (\d+) [^{}]* :args <> [^{}]*\}$')
      where f.adrelid = c.attrelid and f.adnum = c.attnum and c.atttypid = 'pg_catalog.uuid'::pg_catalog.regtype
        and p.pronamespace = 'pg_catalog'::pg_catalog.regnamespace and p.proname in ('gen_random_uuid', 'uuidv4', 'uuidv7')
    ))), '[]')
    from columns c
    join pg_catalog.pg_type t on t.oid = c.atttypid
    where c.attgenerated = '' and c.attidentity = '' and (c.atthasdef or t.typdefault is not null)
  )),
  ('nondeterministic_columns', (
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(c.attrelid::pg_catalog.text, c.attnum,
      pg_catalog.current_setting('server_version_num')::pg_catalog.int4 >= 180000)), '[]')
    from columns c
    join pg_catalog.pg_collation o on o.oid = c.attcollation
    where not o.collisdeterministic
  )),
  ('declared_types', (
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(c.attrelid::pg_catalog.text, c.attnum,
      pg_catalog.format_type(c.atttypid, c.atttypmod))), '[]')
    from columns c join pg_catalog.pg_type t on t.oid = c.atttypid
    where c.atttypmod <> -1 and t.typnamespace <> 'pg_catalog'::pg_catalog.regnamespace
  )),
  ('column_lists', (
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(c.attrelid::pg_catalog.text, c.attnum, l.number)), '[]')
    from columns c join lists l on l.list = c.list
  )),
  ('lists', (
    -- Grantees (0: PUBLIC) and their privileges: 1 select, 2 insert, 4 update, 8 delete, 16 usage, 32 execute.
    select coalesce(pg_catalog.json_agg((
      select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(g.grantee, g.bits)), '[]')
      from (
        select x.grantee::pg_catalog.text, pg_catalog.bit_or(case x.privilege_type
          when 'SELECT' then 1 when 'INSERT' then 2 when 'UPDATE' then 4 when 'DELETE' then 8
          when 'USAGE' then 16 when 'EXECUTE' then 32 else 0 end) as bits
        from pg_catalog.aclexplode(l.list) x
        group by x.grantee
      ) g
      where g.bits <> 0
    ) order by l.number), '[]')
    from lists l
  )),
  ('roles', (
    select pg_catalog.json_agg(pg_catalog.json_build_array(r.oid::pg_catalog.text, r.rolname, r.rolsuper))
    from pg_catalog.pg_roles r
  )),
  ('memberships', (
    -- Members and the roles whose privileges they have. Whether the member inherits is a flag of the grant
    -- since PostgreSQL 16, and of the member before. The owner of the database is a member of pg_database_owner without a grant.
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(m.member::pg_catalog.text, m.role::pg_catalog.text)), '[]')
    from (
      select m.member, m.roleid, (pg_catalog.to_jsonb(m) ->> 'inherit_option')::pg_catalog.bool
      from pg_catalog.pg_auth_members m
      union all
      select d.datdba, o.oid, case when pg_catalog.current_setting('server_version_num')::pg_catalog.int4 >= 160000 then true end
      from pg_catalog.pg_database d, pg_catalog.pg_roles o
      where d.datname = pg_catalog.current_database() and o.rolname = 'pg_database_owner'
    ) m (member, role, inherits)
    join pg_catalog.pg_roles r on r.oid = m.member
    where coalesce(m.inherits, r.rolinherit)
  )),
  ('role_settings', (
    -- Settings in this database come before those in all. Settings that only superusers may change are left out, unless the login
    -- role is one: they would fail in every request. Names with a dot are the operator's own.
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(s.role::pg_catalog.text, s.name, s.value)), '[]')
    from (
      select distinct on (d.setrole, pg_catalog.lower(pg_catalog.split_part(c.entry, '=', 1)))
        d.setrole as role,
        pg_catalog.lower(pg_catalog.split_part(c.entry, '=', 1)) as name,
        pg_catalog.substr(c.entry, pg_catalog.strpos(c.entry, '=') + 1) as value
      from pg_catalog.pg_db_role_setting d
      cross join lateral pg_catalog.unnest(d.setconfig) c (entry)
      where d.setrole <> 0
        and d.setdatabase in (0, (select b.oid from pg_catalog.pg_database b where b.datname = pg_catalog.current_database()))
      order by d.setrole, pg_catalog.lower(pg_catalog.split_part(c.entry, '=', 1)), d.setdatabase desc
    ) s
    left join pg_catalog.pg_settings g on pg_catalog.lower(g.name) = s.name
    where s.name not in ('search_path', 'role', 'session_authorization')
      and (g.context = 'user' or g.context = 'superuser' and pg_catalog.current_setting('is_superuser') = 'on'
        or g.name is null and pg_catalog.strpos(s.name, '.') > 0)
  ))
) p (name, rows)
union all
select p.name, p.rows::pg_catalog.text
from (values
  ('namespaces', (
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('_id', n.oid::pg_catalog.text, 'nspname', n.nspname, 'list', l.number)
      order by n.position), '[]')
    from namespaces n join lists l on l.list = n.list
  )),
  ('procs', (
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
      '_id', r.oid::pg_catalog.text, 'proname', r.proname, 'pronamespace', r.pronamespace::pg_catalog.text, 'prokind', r.prokind,
      'prorettype', r.prorettype::pg_catalog.text, 'proretset', r.proretset, 'prorows', r.prorows, 'provolatile', r.provolatile,
      'provariadic', r.provariadic::pg_catalog.text, 'pronargs', r.pronargs, 'pronargdefaults', r.pronargdefaults,
      'proargtypes', r.proargtypes::pg_catalog.oid[], 'proallargtypes', r.proallargtypes, 'proargmodes', r.proargmodes,
      'proargnames', r.proargnames, 'ofExtension', r.of_extension, 'list', l.number
    ) order by r.oid), '[]')
    from routines r join lists l on l.list = r.list
  )),
  ('types', (
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
      '_id', t.oid::pg_catalog.text, 'typname', t.typname, 'typnamespace', t.typnamespace::pg_catalog.text, 'typtype', t.typtype,
      'typrelid', t.typrelid::pg_catalog.text, 'typelem', t.typelem::pg_catalog.text, 'typarray', t.typarray::pg_catalog.text, 'typdelim', t.typdelim,
      'typbasetype', t.typbasetype::pg_catalog.text, 'typtypmod', t.typtypmod, 'typnotnull', t.typnotnull, 'list', l.number,
      'lacks', case when t.typtype <> 'b' or t.is_array or t.oid = any (o.types) then null when t.oid = any (e.types) then 'order' else 'equality' end
    ) order by t.oid), '[]')
    from types t join lists l on l.list = t.list
    -- Types with an order and types with an equality, their own or that of a type that their values are at the same time.
    cross join (
      select pg_catalog.array_agg(c.opcintype) || pg_catalog.array_agg(k.castsource) as types
      from pg_catalog.pg_opclass c
      join pg_catalog.pg_am m on m.oid = c.opcmethod and m.amname = 'btree'
      left join pg_catalog.pg_cast k on k.casttarget = c.opcintype and k.castcontext = 'i' and k.castmethod = 'b'
      where c.opcdefault
    ) o
    cross join (
      select pg_catalog.array_agg(q.oprleft) || pg_catalog.array_agg(k.castsource) as types
      from pg_catalog.pg_operator q
      left join pg_catalog.pg_cast k on k.casttarget = q.oprleft and k.castcontext = 'i'
      where q.oprname = '=' and q.oprleft = q.oprright
    ) e
  )),
  ('composite_attributes', (
    -- Of composite types that belong to no table.
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(t.oid::pg_catalog.text, a.attname, a.atttypid::pg_catalog.text, a.atttypmod)
      order by a.attrelid, a.attnum), '[]')
    from types t
    join pg_catalog.pg_class c on c.oid = t.typrelid and c.relkind = 'c'
    join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  )),
  ('enums', (
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
      '_id', l.oid::pg_catalog.text, 'enumtypid', l.enumtypid::pg_catalog.text, 'enumsortorder', l.enumsortorder, 'enumlabel', l.enumlabel
    )), '[]')
    from pg_catalog.pg_enum l where l.enumtypid in (select t.oid from types t)
  )),
  ('type_operators', (
    -- Comparison operators for types of other schemas: those of the default B-tree class, and the type's own for
    -- patterns. Only from the type's schema, on which a role that may name the type has USAGE.
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(o.type, o.operation, o.name)), '[]')
    from (
      select t.oid::pg_catalog.text, (array['lt', 'lte', 'eq', 'gte', 'gt'])[a.amopstrategy], o.oprname
      from types t
      join pg_catalog.pg_opclass c on c.opcintype = t.oid and c.opcdefault
      join pg_catalog.pg_am m on m.oid = c.opcmethod and m.amname = 'btree'
      join pg_catalog.pg_amop a on a.amopfamily = c.opcfamily and a.amoplefttype = t.oid and a.amoprighttype = t.oid and a.amoppurpose = 's'
      join pg_catalog.pg_operator o on o.oid = a.amopopr and o.oprnamespace = t.typnamespace
      where t.typtype = 'b' and t.typnamespace <> 'pg_catalog'::pg_catalog.regnamespace
      union all
      select t.oid::pg_catalog.text, w.operation, o.oprname
      from types t
      cross join (values ('like', '~~'), ('ilike', '~~*'), ('regex', '~'), ('iregex', '~*')) w (operation, name)
      join pg_catalog.pg_operator o on o.oprname = w.name and o.oprnamespace = t.typnamespace and o.oprowner = t.typowner
        and o.oprleft = t.oid and o.oprright = 'pg_catalog.text'::pg_catalog.regtype
      where t.typtype = 'b' and t.typnamespace <> 'pg_catalog'::pg_catalog.regnamespace
      union all
      -- No operator, but looked up in the same way.
      select t.oid::pg_catalog.text, p.proname, p.proname
      from types t
      join pg_catalog.pg_proc p on p.proname in ('min', 'max') and p.prokind = 'a' and p.pronamespace = t.typnamespace and p.proowner = t.typowner
        and p.pronargs = 1 and p.proargtypes[0] = t.oid
      where t.typtype = 'b' and t.typnamespace <> 'pg_catalog'::pg_catalog.regnamespace
    ) o (type, operation, name)
  )),
  ('exposed', (select coalesce(pg_catalog.json_agg(e.oid::pg_catalog.text order by e.position), '[]') from exposed e)),
  ('routine_defaults', (
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(r.oid::pg_catalog.text, pg_catalog.pg_get_expr(r.proargdefaults, 0))), '[]')
    from routines r where r.proargdefaults is not null
  )),
  ('other_descriptions', (
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
      'catalog', c.relname, 'objoid', d.objoid::pg_catalog.text, 'objsubid', d.objsubid, 'description', d.description
    )), '[]')
    from pg_catalog.pg_description d
    join pg_catalog.pg_class c on c.oid = d.classoid
    where d.classoid = 'pg_catalog.pg_namespace'::pg_catalog.regclass and d.objoid in (select e.oid from exposed e)
      or d.classoid = 'pg_catalog.pg_proc'::pg_catalog.regclass and d.objoid in (select r.oid from routines r)
      or d.classoid = 'pg_catalog.pg_type'::pg_catalog.regclass and d.objoid in (select t.oid from types t where t.typtype in ('e', 'd', 'c'))
  ))
) p (name, rows)
where pg_catalog.current_setting('pgreflect.tables') = ''
union all
-- Column by column, because there are many rows. All lists have the same order.
select 'attributes', pg_catalog.json_build_object(
  'attrelid', pg_catalog.json_agg(c.attrelid::pg_catalog.text), 'attnum', pg_catalog.json_agg(c.attnum),
  'attname', pg_catalog.json_agg(c.attname), 'atttypid', pg_catalog.json_agg(c.atttypid::pg_catalog.text),
  'atttypmod', pg_catalog.json_agg(c.atttypmod), 'attnotnull', pg_catalog.json_agg(c.attnotnull),
  'attidentity', pg_catalog.json_agg(c.attidentity), 'attgenerated', pg_catalog.json_agg(c.attgenerated)
)::pg_catalog.text
from (select c.*, pg_catalog.row_number() over () / 10000 as text_number from columns c) c
group by c.text_number
union all
-- Last: an object that had to be looked up in the newest catalog has been dropped by now, so the look-up returned nothing.
select 'torn', pg_catalog.to_json(
  exists (select from updatable u where u.mask = 0 and pg_catalog.pg_table_is_visible(u.oid) is null)
    or exists (
      select from columns c join pg_catalog.pg_type t on t.oid = c.atttypid
      where c.atttypmod <> -1 and t.typnamespace <> 'pg_catalog'::pg_catalog.regnamespace and pg_catalog.format_type(c.atttypid, null) = '???'
    )
)::pg_catalog.text
