-- Grants that are no use without another: `select` without the key, by which rows are ordered, and `insert` without the sequence that a
-- column takes its default from.
--
-- $1: names of the schemas, $2: names of the API roles, those that bypass row security too. One row per table, kind and what is
-- lacked: name, kind, lacked, grantees (separated by commas), fix.
with relation as (
  select c.oid, n.oid as schema, pg_catalog.format('%I.%I', n.nspname, c.relname) as name
  from pg_catalog.pg_class c
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where n.nspname = any ($1::text[]) and c.relkind in ('r', 'p')
), grantee as (
  select t.oid, t.name, r.oid as role, pg_catalog.quote_ident(r.rolname) as quoted
  from relation t
  join pg_catalog.pg_roles r on r.rolname = any ($2::text[]) and not r.rolsuper
    and pg_catalog.has_schema_privilege(r.oid, t.schema, 'usage')
), lack as (
  select g.name, g.quoted, 'key' as kind, m.columns as lacked, pg_catalog.format('select (%s) on %s', m.columns, g.name) as granted
  from grantee g
  join pg_catalog.pg_constraint k on k.conrelid = g.oid and k.contype = 'p'
  cross join lateral (
    select pg_catalog.string_agg(pg_catalog.quote_ident(a.attname), ', ' order by x.n) as columns
    from unnest(k.conkey) with ordinality x (number, n)
    join pg_catalog.pg_attribute a on a.attrelid = g.oid and a.attnum = x.number
    where not pg_catalog.has_column_privilege(g.role, g.oid, a.attnum, 'select')
  ) m
  where pg_catalog.has_any_column_privilege(g.role, g.oid, 'select') and m.columns is not null
  union all
  select g.name, g.quoted, 'sequence', s.name, pg_catalog.format('usage on sequence %s', s.name)
  from grantee g
  join pg_catalog.pg_attrdef d on d.adrelid = g.oid
  join pg_catalog.pg_depend p on p.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass and p.objid = d.oid
    and p.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
  join pg_catalog.pg_class c on c.oid = p.refobjid and c.relkind = 'S'
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  cross join lateral (select pg_catalog.format('%I.%I', n.nspname, c.relname)) s (name)
  where pg_catalog.has_any_column_privilege(g.role, g.oid, 'insert')
    and not pg_catalog.has_sequence_privilege(g.role, c.oid, 'usage, update')
)
select l.name, l.kind, l.lacked, g.grantees, pg_catalog.format('grant %s to %s', l.granted, g.grantees) as fix
from (select distinct name, kind, lacked, granted from lack) l
cross join lateral (
  select pg_catalog.string_agg(distinct o.quoted, ', ') as grantees
  from lack o
  where o.name = l.name and o.granted = l.granted
) g
order by l.name, l.kind, l.lacked
