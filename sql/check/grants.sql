-- Grants on tables of some schemas that are wider than row security needs, and the statements that revoke them.
--
-- $1: names of the schemas, $2: names of the API roles; roles that bypass row security do not count. A grant is
-- reported for its grantee: one of the roles, a role that one of them inherits from, or everyone (`public`). One
-- row per table, kind and list of privileges: name, kind, grantees and privileges (separated by commas), visitors
-- (whether everyone or the first role is among the grantees), fix (null where a policy has to be written), first (one of the
-- grantees, unquoted), policies (names of the table's policies), reading (json: permissive policies by which the grantees may read,
-- each with its expression and the quoted columns that it reads), writers (of kind `unguarded`: routines that run as their caller
-- and whose text writes the table, separated by commas, or null).
--   unguarded       row security is off, and rows may be inserted, updated or deleted
--   beyond_rows     truncate and the like, which row security does not apply to, the API does not use, and not every new table gets
--   no_policy       row security is on, and the table has no policy at all
--   without_policy  row security is on, and no policy allows the granted command; select needs none where one allows inserts
--   everybody       the grant is to public, which is every login of the server
with api_role as (
  select r.oid, r.rolname, w.position
  from pg_catalog.unnest($2::text[]) with ordinality as w (name, position)
  join pg_catalog.pg_roles r on r.rolname = w.name and not r.rolsuper and not r.rolbypassrls
),
granted as (
  select c.oid, e.grantee, pg_catalog.lower(e.privilege_type) as privilege
  from pg_catalog.pg_class c cross join lateral pg_catalog.aclexplode(c.relacl) e
  where c.relkind in ('r', 'p')
  union
  select a.attrelid, e.grantee, pg_catalog.lower(e.privilege_type)
  from pg_catalog.pg_attribute a
  join pg_catalog.pg_class c on c.oid = a.attrelid and c.relkind in ('r', 'p')
  cross join lateral pg_catalog.aclexplode(a.attacl) e
  where a.attnum > 0 and not a.attisdropped
),
judged as (
  select c.oid, n.nspname, c.relname, g.grantee, g.privilege,
    g.grantee = 0 or exists (select from api_role r where r.oid = g.grantee and r.position = 1) as visitor,
    case
      -- What every new table gets is one finding, of the default privileges.
      when g.privilege not in ('select', 'insert', 'update', 'delete') then case when not exists (
        select from pg_catalog.pg_default_acl d cross join lateral pg_catalog.aclexplode(d.defaclacl) e
        where d.defaclrole = c.relowner and d.defaclobjtype = 'r' and d.defaclnamespace in (0, c.relnamespace)
          and e.grantee = g.grantee and pg_catalog.lower(e.privilege_type) = g.privilege) then 'beyond_rows' end
      when not c.relrowsecurity and g.privilege <> 'select' then 'unguarded'
      when c.relrowsecurity and not exists (select from pg_catalog.pg_policy p where p.polrelid = c.oid) then 'no_policy'
      when c.relrowsecurity and not exists (
        select from pg_catalog.pg_policy p
        where p.polrelid = c.oid and p.polpermissive
          and (p.polcmd in ('*', case g.privilege when 'select' then 'r' when 'insert' then 'a' when 'update' then 'w' else 'd' end::"char")
            -- Rows are written that their writer does not see.
            or (g.privilege = 'select' and p.polcmd = 'a'))
          and (0 = any (p.polroles) or exists (
            select from api_role r, pg_catalog.unnest(p.polroles) as o (oid)
            where pg_catalog.pg_has_role(r.oid, o.oid, 'usage') and (g.grantee = 0 or pg_catalog.pg_has_role(r.oid, g.grantee, 'usage'))))
      ) then 'without_policy'
      when g.grantee = 0 then 'everybody'
    end as kind
  from granted g
  join pg_catalog.pg_class c on c.oid = g.oid and g.grantee <> c.relowner
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace and n.nspname = any ($1::text[])
  where g.grantee = 0 or exists (
    select from api_role r join pg_catalog.pg_roles o on o.oid = g.grantee and not o.rolsuper
    where pg_catalog.pg_has_role(r.oid, o.oid, 'usage'))
),
-- What routines write that run as their caller, by the first word of its name. Each text is read once.
writing as materialized (
  select distinct p.oid::pg_catalog.regprocedure::text as name, p.prosrc, m.words[1] as word
  from pg_catalog.pg_proc p
  join pg_catalog.pg_namespace n on n.oid = p.pronamespace and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
  cross join lateral pg_catalog.regexp_matches(p.prosrc, '\m(?:insert\s+into|update|delete\s+from|merge\s+into)\s+(?:only\s+)?(?:[\w"]+\.)?"?(\w+)', 'gi') as m (words)
  where not p.prosecdef
),
by_grantee as (
  select j.oid, j.nspname, j.relname, j.kind, j.visitor, j.grantee as role,
    case when j.grantee = 0 then 'public' else pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(j.grantee)) end as grantee,
    pg_catalog.string_agg(j.privilege, ', ' order by
      pg_catalog.array_position(array['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger', 'maintain'], j.privilege)
    ) as privileges
  from judged j
  where j.kind is not null
  group by j.oid, j.nspname, j.relname, j.kind, j.visitor, j.grantee
)
select pg_catalog.format('%I.%I', b.nspname, b.relname) as name, b.kind, b.privileges,
  pg_catalog.string_agg(b.grantee, ', ' order by b.grantee) as grantees,
  pg_catalog.bool_or(b.visitor) as visitors,
  case when b.kind <> 'no_policy' then
    pg_catalog.format('revoke %s on %I.%I from %s', b.privileges, b.nspname, b.relname,
      pg_catalog.string_agg(b.grantee, ', ' order by b.grantee)) end as fix,
  coalesce(pg_catalog.min(r.rolname), 'public') as first,
  array(select p.polname::text from pg_catalog.pg_policy p where p.polrelid = b.oid) as policies,
  case when b.kind in ('beyond_rows', 'everybody') then '[]' else (
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
      'using', pg_catalog.pg_get_expr(p.polqual, p.polrelid),
      'columns', array(
        select pg_catalog.quote_ident(a.attname)
        from pg_catalog.pg_depend d
        join pg_catalog.pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
        where d.classid = 'pg_catalog.pg_policy'::pg_catalog.regclass and d.objid = p.oid
          and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refobjsubid > 0))), '[]')
    from pg_catalog.pg_policy p
    where p.polrelid = b.oid and p.polpermissive and p.polcmd in ('r', '*') and p.polqual is not null and (
      0 = any (p.polroles) or exists (
        select from pg_catalog.unnest(p.polroles) as o (oid), pg_catalog.unnest(pg_catalog.array_agg(b.role)) as g (oid)
        where o.oid <> 0 and g.oid <> 0 and pg_catalog.pg_has_role(g.oid, o.oid, 'usage')))
  ) end as reading,
  case when b.kind = 'unguarded' then (
    select pg_catalog.string_agg(w.name, ', ' order by w.name)
    from writing w
    where w.word = pg_catalog.substring(b.relname::text, '^\w+') and (b.relname ~ '^\w+$' or w.prosrc ~* ('\m(insert\s+into|update|delete\s+from|merge\s+into)\s+(only\s+)?([\w"]+\.)?"?'
      || pg_catalog.regexp_replace(b.relname, '(\W)', '\\\1', 'g') || '\M'))
  ) end as writers
from by_grantee b
left join pg_catalog.pg_roles r on r.oid = b.role
group by b.oid, b.nspname, b.relname, b.kind, b.privileges
order by b.nspname, b.relname, b.kind, b.privileges
