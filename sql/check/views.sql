-- Everything that decides which columns of a view are unique: its query, the queries of views that it reads, and the unique keys of
-- their tables.
--
-- $1: oids of views. One row: relations (json), equalities (json: [operator, operator family] of every B-tree equality).
-- Each relation: oid, path (its qualified name), query (text of its `pg_node_tree`; null for tables), columns (names by number),
-- notNull (numbers), keys:
-- each with columns (numbers), families and collations (oids, in the order of the columns).
with recursive below (oid) as (
  select v.oid from pg_catalog.unnest($1::pg_catalog.oid[]) v (oid)
  union
  select d.refobjid
  from below b
  join pg_catalog.pg_rewrite r on r.ev_class = b.oid and r.rulename = '_RETURN'
  join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass and d.objid = r.oid
    and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
)
select
  (select pg_catalog.json_agg(pg_catalog.json_build_object(
    'oid', c.oid::pg_catalog.text,
    'path', pg_catalog.format('%I.%I', (select n.nspname from pg_catalog.pg_namespace n where n.oid = c.relnamespace), c.relname),
    'query', (select r.ev_action::pg_catalog.text from pg_catalog.pg_rewrite r where r.ev_class = c.oid and r.rulename = '_RETURN'),
    'columns', (select pg_catalog.json_object_agg(a.attnum, a.attname) from pg_catalog.pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped),
    'notNull', (select coalesce(pg_catalog.json_agg(a.attnum), '[]') from pg_catalog.pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and a.attnotnull),
    'keys', (
      select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
        'columns', (i.indkey::pg_catalog.int2[])[0:i.indnkeyatts - 1],
        'families', (select pg_catalog.json_agg(o.opcfamily::pg_catalog.text order by u.position)
          from pg_catalog.unnest(i.indclass::pg_catalog.oid[]) with ordinality u (oid, position) join pg_catalog.pg_opclass o on o.oid = u.oid),
        'collations', (select pg_catalog.json_agg(u.oid::pg_catalog.text order by u.position)
          from pg_catalog.unnest(i.indcollation::pg_catalog.oid[]) with ordinality u (oid, position))
      ) order by i.indisprimary desc, i.indexrelid), '[]')
      from pg_catalog.pg_index i
      where i.indrelid = c.oid and i.indisunique and i.indisvalid and i.indimmediate and i.indexprs is null and i.indpred is null
        -- A table's keys do not apply to rows of tables that inherit from it.
        and (c.relkind <> 'r' or not c.relhassubclass)
        and not exists (
          select from pg_catalog.unnest((i.indkey::pg_catalog.int2[])[0:i.indnkeyatts - 1]) k (attnum)
          join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum and not a.attnotnull
          where c.relkind <> 'm')
    )
  )) from below b join pg_catalog.pg_class c on c.oid = b.oid) as relations,
  (select pg_catalog.json_agg(pg_catalog.json_build_array(o.amopopr::pg_catalog.text, o.amopfamily::pg_catalog.text))
    from pg_catalog.pg_amop o join pg_catalog.pg_am m on m.oid = o.amopmethod and m.amname = 'btree' where o.amopstrategy = 3) as equalities
