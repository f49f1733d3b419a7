-- Grants to insert that are no use without another: of the sequence that a column takes its default from.
--
-- $1: names of the schemas, $2: names of the API roles, those that bypass row security too. One row per table and sequence: name,
-- lacked, grantees (separated by commas), fix.
with lack as (
  select pg_catalog.format('%I.%I', tn.nspname, t.relname) as name, pg_catalog.format('%I.%I', n.nspname, c.relname) as lacked,
    pg_catalog.string_agg(distinct pg_catalog.quote_ident(r.rolname), ', ') as grantees
  from pg_catalog.pg_class t
  join pg_catalog.pg_namespace tn on tn.oid = t.relnamespace
  join pg_catalog.pg_attrdef d on d.adrelid = t.oid
  join pg_catalog.pg_depend p on p.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass and p.objid = d.oid
    and p.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
  join pg_catalog.pg_class c on c.oid = p.refobjid and c.relkind = 'S'
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  join pg_catalog.pg_roles r on r.rolname = any ($2::text[]) and not r.rolsuper
    and pg_catalog.has_schema_privilege(r.oid, tn.oid, 'usage')
    and pg_catalog.has_any_column_privilege(r.oid, t.oid, 'insert')
    and not pg_catalog.has_sequence_privilege(r.oid, c.oid, 'usage, update')
  where tn.nspname = any ($1::text[]) and t.relkind in ('r', 'p')
  group by 1, 2
)
select l.name, l.lacked, l.grantees, pg_catalog.format('grant usage on sequence %s to %s', l.lacked, l.grantees) as fix
from lack l
order by l.name, l.lacked
