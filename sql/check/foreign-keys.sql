-- Foreign keys of some schemas without an index that begins with their columns, and the statement that creates one. `partial` is the
-- predicate of such an index that has only some rows, or null.
--
-- $1: names of the schemas. Without such an index every nested collection, and every delete of a referenced row, reads
-- the whole table.
select pg_catalog.format('%I.%I', n.nspname, t.relname) as name, c.conname as constraint,
  pg_catalog.format('create index on %I.%I (%s)', n.nspname, t.relname, k.columns) as fix,
  p.predicate as partial
from pg_catalog.pg_constraint c
join pg_catalog.pg_class t on t.oid = c.conrelid
join pg_catalog.pg_namespace n on n.oid = t.relnamespace
cross join lateral (
  select pg_catalog.string_agg(pg_catalog.quote_ident(a.attname), ', ' order by u.position) as columns
  from pg_catalog.unnest(c.conkey) with ordinality as u (number, position)
  join pg_catalog.pg_attribute a on a.attrelid = c.conrelid and a.attnum = u.number
) k
left join lateral (
  select pg_catalog.pg_get_expr(i.indpred, i.indrelid) as predicate
  from pg_catalog.pg_index i
  where i.indrelid = c.conrelid and i.indisvalid and i.indpred is not null
    and (pg_catalog.string_to_array(i.indkey::text, ' ')::int2[])[1:pg_catalog.cardinality(c.conkey)] @> c.conkey
    and i.indnkeyatts >= pg_catalog.cardinality(c.conkey)
  order by i.indexrelid limit 1
) p on true
where c.contype = 'f' and c.conparentid = 0 and n.nspname = any ($1::text[])
  and not exists (
    select from pg_catalog.pg_index i
    where i.indrelid = c.conrelid and i.indisvalid and i.indpred is null
      and (pg_catalog.string_to_array(i.indkey::text, ' ')::int2[])[1:pg_catalog.cardinality(c.conkey)] @> c.conkey
      and i.indnkeyatts >= pg_catalog.cardinality(c.conkey)
  )
order by n.nspname, t.relname, c.conname
