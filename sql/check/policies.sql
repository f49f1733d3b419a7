-- Row security policies of some schemas, as PostgreSQL prints them; run with a search path of pg_catalog, so that names are qualified.
--
-- $1: names of the schemas. One row per policy: name, table, target (the text between `alter policy` and its expressions),
-- using and check (expressions or null), columns (json: those it reads, of any table; each with table, quoted name,
-- whether an index leads with it, and the statement that makes one, on the root of a partitioned table).
select p.polname as name, pg_catalog.format('%I.%I', n.nspname, c.relname) as table,
  pg_catalog.format('%I on %I.%I', p.polname, n.nspname, c.relname) as target,
  pg_catalog.pg_get_expr(p.polqual, p.polrelid) as using,
  pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid) as check,
  coalesce((
    select pg_catalog.json_agg(pg_catalog.json_build_object(
      'table', pg_catalog.format('%I.%I', tn.nspname, t.relname),
      'column', pg_catalog.quote_ident(a.attname),
      'indexed', exists (
        select from pg_catalog.pg_index i
        where i.indrelid = a.attrelid and i.indisvalid and i.indpred is null and i.indkey[0] = a.attnum),
      'fix', (
        -- The index of a partitioned table has a part in every partition.
        select pg_catalog.format('create index on %I.%I (%I)', rn.nspname, r.relname, a.attname)
        from pg_catalog.pg_class r
        join pg_catalog.pg_namespace rn on rn.oid = r.relnamespace
        where r.oid = coalesce(pg_catalog.pg_partition_root(t.oid), t.oid))
    ) order by tn.nspname, t.relname, a.attnum)
    from (
      select distinct d.refobjid, d.refobjsubid
      from pg_catalog.pg_depend d
      where d.classid = 'pg_catalog.pg_policy'::pg_catalog.regclass and d.objid = p.oid
        and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refobjsubid > 0
    ) d
    join pg_catalog.pg_class t on t.oid = d.refobjid and t.relkind in ('r', 'p', 'm')
    join pg_catalog.pg_namespace tn on tn.oid = t.relnamespace
    join pg_catalog.pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
  ), '[]') as columns
from pg_catalog.pg_policy p
join pg_catalog.pg_class c on c.oid = p.polrelid
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where n.nspname = any ($1::text[])
order by n.nspname, c.relname, p.polname
