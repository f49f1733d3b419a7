-- Columns of some schemas whose contents the API filters by, jsonb and tsvector, with the indexes that serve such filters.
--
-- $1: names of the schemas, $2: roles that policies bind, $3: names of the types. One row per column where no index serves a role:
-- name, type, fix (the statement that makes an index, null where there is one), index (its name, null without one), policy (one that
-- PostgreSQL has to ask for each row before it may use the index, null without one; the operators of such indexes are not leakproof
-- unless somebody said so).
select pg_catalog.format('%I.%I.%I', n.nspname, t.relname, a.attname) as name, b.typname as type,
  case when i.name is null then
    pg_catalog.format('create index on %I.%I using gin (%I)', n.nspname, t.relname, a.attname)
  end as fix,
  i.name as index, p.name as policy
from pg_catalog.pg_class t
join pg_catalog.pg_namespace n on n.oid = t.relnamespace
join pg_catalog.pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
join pg_catalog.pg_type d on d.oid = a.atttypid
join pg_catalog.pg_type b on b.oid = case when d.typtype = 'd' then d.typbasetype else d.oid end
left join lateral (
  select x.relname as name,
    exists (
      select from pg_catalog.pg_opclass o
      join pg_catalog.pg_amop s on s.amopfamily = o.opcfamily
      join pg_catalog.pg_operator r on r.oid = s.amopopr
      join pg_catalog.pg_proc f on f.oid = r.oprcode
      where o.oid = any (i.indclass) and f.proleakproof
    ) as leakproof
  from pg_catalog.pg_index i
  join pg_catalog.pg_class x on x.oid = i.indexrelid
  join pg_catalog.pg_am m on m.oid = x.relam
  where i.indrelid = t.oid and i.indisvalid and i.indpred is null and a.attnum = any (i.indkey) and m.amname in ('gin', 'gist')
  order by 2 desc, x.oid limit 1
) i on true
left join lateral (
  select q.polname as name
  from pg_catalog.pg_policy q
  join pg_catalog.pg_roles r on r.rolname = any ($2::text[]) and not r.rolbypassrls and not r.rolsuper
  where t.relrowsecurity and q.polrelid = t.oid and q.polcmd in ('r', '*')
    and pg_catalog.pg_get_expr(q.polqual, q.polrelid) <> 'true'
    and (0 = any (q.polroles) or exists (
      select from pg_catalog.unnest(q.polroles) as g (oid) where g.oid <> 0 and pg_catalog.pg_has_role(r.oid, g.oid, 'usage')))
    and (not q.polpermissive or not exists (
      select from pg_catalog.pg_policy o
      where o.polrelid = t.oid and o.polcmd in ('r', '*') and o.polpermissive
        and pg_catalog.pg_get_expr(o.polqual, o.polrelid) = 'true'
        and (0 = any (o.polroles) or exists (
          select from pg_catalog.unnest(o.polroles) as g (oid) where g.oid <> 0 and pg_catalog.pg_has_role(r.oid, g.oid, 'usage')))))
  order by q.oid limit 1
) p on true
where n.nspname = any ($1::text[]) and t.relkind in ('r', 'p', 'm') and not t.relispartition
  and b.typnamespace = 'pg_catalog'::pg_catalog.regnamespace and b.typname = any ($3::text[])
  and (i.name is null) = (p.name is null) and i.leakproof is not true
order by n.nspname, t.relname, a.attnum
