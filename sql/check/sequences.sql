-- Columns of some schemas whose sequence may be behind their values: `serial` and identity columns of type smallint, int or bigint that
-- an index begins with, so that their maximum is one look-up. Of those alone that a role reads whole, without running a policy.
--
-- $1: names of the schemas, $2: name of the role. One row each:
--   name      the column
--   sequence  its sequence
--   most      the largest number of the sequence
--   state     a select of `position` (of this row, from 1), `highest` (the column's maximum) and `next` (of the sequence), to be run as the role
--   fix       the statement that sets the sequence
select pg_catalog.format('%s.%I', t.oid::pg_catalog.regclass, a.attname) as name, s.seqrelid::pg_catalog.regclass::text as sequence,
  pg_catalog.format(
    'select %s as position, (select pg_catalog.max(%I) from %s%s) as highest, case when is_called then last_value + %s else last_value end as next from %s',
    pg_catalog.row_number() over (order by t.oid, a.attnum), a.attname,
    case t.relkind when 'r' then 'only ' end, t.oid::pg_catalog.regclass, s.seqincrement, s.seqrelid::pg_catalog.regclass
  ) as state,
  s.seqmax::text as most,
  pg_catalog.format('select pg_catalog.setval(%L, pg_catalog.max(%I)) from %s', s.seqrelid::pg_catalog.regclass, a.attname, t.oid::pg_catalog.regclass) as fix
from pg_catalog.pg_class t
join pg_catalog.pg_namespace n on n.oid = t.relnamespace
join pg_catalog.pg_roles r on r.rolname = $2
join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
  and d.refobjid = t.oid and d.refobjsubid > 0 and d.deptype in ('a', 'i')
join pg_catalog.pg_sequence s on s.seqrelid = d.objid and s.seqincrement > 0 and not s.seqcycle
join pg_catalog.pg_class q on q.oid = s.seqrelid
join pg_catalog.pg_attribute a on a.attrelid = t.oid and a.attnum = d.refobjsubid
where n.nspname = any ($1::text[])
  -- Reading a foreign table runs the code of its server.
  and case t.relkind when 'r' then true when 'p' then not exists (
    select from pg_catalog.pg_partition_tree(t.oid) p join pg_catalog.pg_class f on f.oid = p.relid and f.relkind = 'f'
  ) end
  and a.atttypid in ('pg_catalog.int2'::pg_catalog.regtype, 'pg_catalog.int4'::pg_catalog.regtype, 'pg_catalog.int8'::pg_catalog.regtype)
  and (not t.relrowsecurity or r.rolbypassrls or r.rolsuper)
  and pg_catalog.has_schema_privilege(r.oid, t.relnamespace, 'usage') and pg_catalog.has_schema_privilege(r.oid, q.relnamespace, 'usage')
  and pg_catalog.has_column_privilege(r.oid, t.oid, a.attnum, 'select')
  and pg_catalog.has_sequence_privilege(r.oid, s.seqrelid, 'select')
  and exists (
    select from pg_catalog.pg_index i
    join pg_catalog.pg_class x on x.oid = i.indexrelid
    join pg_catalog.pg_am m on m.oid = x.relam and m.amname = 'btree'
    where i.indrelid = t.oid and i.indisvalid and i.indpred is null and i.indkey[0] = a.attnum
  )
order by t.oid, a.attnum
