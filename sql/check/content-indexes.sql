-- Indexes that policies keep the filters of a role from using, and columns with contents that the API filters by (jsonb, tsvector,
-- arrays) without an index.
--
-- $1: the columns, JSON: [{"table": oid, "number": …, "role": name of a role that filters by it}], $2: oids of the tables of the API, $3:
-- names of API roles. PostgreSQL checks the policies of a row before it runs an operator or function that is not leakproof, so it
-- cannot look up rows by one first. Partitions and their indexes count as one row, for their table. One row each:
--   name     the column, or the table where the index is on an expression
--   type     of the column, null where there is an index
--   index    null: there is none, and a role would use one
--   method, patterns (whether the index is one for patterns), policy (one that binds), roles (that it binds): null without an index
--   fix      the statement that makes an index, null where there is one
with reader as (
  select t.oid, r.oid as role, r.rolname,
    case when g.guarded then coalesce(q.restrictive, case when not q.is_open then q.permissive end) end as policy
  from pg_catalog.unnest($2::pg_catalog.oid[]) as u (oid)
  join pg_catalog.pg_class t on t.oid = u.oid and t.relkind in ('r', 'm')
  join pg_catalog.pg_roles r on r.rolname = any ($3::text[]) and pg_catalog.has_schema_privilege(r.oid, t.relnamespace, 'usage')
  cross join lateral (
    select t.relrowsecurity and not r.rolbypassrls and not r.rolsuper
      and (t.relforcerowsecurity or not pg_catalog.pg_has_role(r.oid, t.relowner, 'usage')) as guarded
  ) g
  cross join lateral (
    select pg_catalog.min(p.polname) filter (where not p.polpermissive and e.text <> 'true') as restrictive,
      pg_catalog.min(p.polname) filter (where p.polpermissive) as permissive,
      pg_catalog.bool_or(p.polpermissive and e.text = 'true') as is_open
    from pg_catalog.pg_policy p
    cross join lateral pg_catalog.pg_get_expr(p.polqual, p.polrelid) as e (text)
    where p.polrelid = t.oid and p.polcmd in ('r', '*')
      and (0 = any (p.polroles) or exists (
        select from pg_catalog.unnest(p.polroles) as o (oid) where o.oid <> 0 and pg_catalog.pg_has_role(r.oid, o.oid, 'usage')))
  ) q
  -- Without a permissive policy, a role sees no row.
  where not g.guarded or q.permissive is not null
),
-- Columns that an index can filter by: the first one; for GIN and BRIN all.
lookup as (
  select i.indrelid, i.indexrelid, i.indpred is null as is_total, m.amname as method, k.number,
    o.opcname ~ '_pattern_ops$|_trgm_ops$' as patterns,
    not (m.amname = 'btree' and o.opcname like '%\_pattern\_ops')
      and exists (
        select from pg_catalog.pg_amop s
        join pg_catalog.pg_operator p on p.oid = s.amopopr
        join pg_catalog.pg_proc f on f.oid = p.oprcode
        where s.amopfamily = o.opcfamily and s.amoplefttype = o.opcintype and f.proleakproof
          -- Indexes that serve only equality are irrelevant.
          and (p.oprname <> '=' or m.amname = 'hash'))
      and (k.number <> 0 or not exists (
        select from pg_catalog.regexp_matches(i.indexprs::text, ':(funcid|opno) (\d+)|COERCEVIAIO', 'g') as e (part)
        left join pg_catalog.pg_operator p on e.part[1] = 'opno' and p.oid::text = e.part[2]
        left join pg_catalog.pg_proc f on f.oid = p.oprcode or (e.part[1] = 'funcid' and f.oid::text = e.part[2])
        where f.proleakproof is not true)) as serves_all
  from pg_catalog.pg_index i
  join pg_catalog.pg_class x on x.oid = i.indexrelid
  join pg_catalog.pg_am m on m.oid = x.relam
  cross join lateral rows from (
    pg_catalog.unnest((i.indkey::pg_catalog.int2[])[0:i.indnkeyatts - 1]), pg_catalog.unnest(i.indclass::pg_catalog.oid[])
  ) with ordinality as k (number, class, position)
  join pg_catalog.pg_opclass o on o.oid = k.class
  where i.indisvalid and i.indrelid = any ($2::pg_catalog.oid[]) and (k.position = 1 or m.amname in ('gin', 'brin'))
)
select pg_catalog.format('%I.%I', n.nspname, t.relname) || coalesce('.' || pg_catalog.quote_ident(b.attname), '') as name, null as type,
  x.relname as index, b.method, b.patterns, b.policy, b.roles, null as fix
from (
  select coalesce(pg_catalog.pg_partition_root(l.indrelid), l.indrelid) as root,
    coalesce(pg_catalog.pg_partition_root(l.indexrelid), l.indexrelid) as index, a.attname, l.method, l.patterns,
    pg_catalog.min(d.policy) as policy, pg_catalog.string_agg(distinct d.rolname, ', ') as roles
  from lookup l
  join reader d on d.oid = l.indrelid and d.policy is not null
  left join pg_catalog.pg_attribute a on a.attrelid = l.indrelid and a.attnum = l.number
  where not l.serves_all and (l.number = 0 or pg_catalog.has_column_privilege(d.role, l.indrelid, l.number, 'select'))
  group by 1, 2, a.attname, l.method, l.patterns
) b
join pg_catalog.pg_class t on t.oid = b.root
join pg_catalog.pg_namespace n on n.oid = t.relnamespace
join pg_catalog.pg_class x on x.oid = b.index
union all
select distinct pg_catalog.format('%I.%I.%I', n.nspname, t.relname, a.attname), pg_catalog.format_type(y.oid, null),
  null, null, null::boolean, null, null, pg_catalog.format('create index on %I.%I using gin (%I)', n.nspname, t.relname, a.attname)
from pg_catalog.jsonb_to_recordset($1::pg_catalog.jsonb) as c ("table" pg_catalog.oid, number pg_catalog.int2, role text)
join pg_catalog.pg_class t on t.oid = coalesce(pg_catalog.pg_partition_root(c."table"), c."table")
join pg_catalog.pg_namespace n on n.oid = t.relnamespace
join pg_catalog.pg_attribute a on a.attrelid = c."table" and a.attnum = c.number
join pg_catalog.pg_type z on z.oid = a.atttypid
join pg_catalog.pg_type y on y.oid = case when z.typtype = 'd' then z.typbasetype else z.oid end
-- Subqueries that PostgreSQL runs as hash tables. It expects few rows of each, so in a join it would read all of them for each column.
where ((c."table", c.role) in (select d.oid, d.rolname::text from reader d where d.policy is null)) is true
  and (c."table", c.number) not in (
    select l.indrelid, l.number from lookup l where l.is_total and l.method not in ('btree', 'hash', 'brin'))
order by 1, 3
