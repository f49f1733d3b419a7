-- The statements that remove the gateway's roles from a database, in order: policies, default privileges, privileges, roles.
--
-- $1: json with the names: anon, authenticated, service, login, auth. Rows as in roles.sql. Privileges that were granted to these
-- roles by hand are revoked, too, because a role with privileges cannot be dropped. A role that other objects still need is not dropped:
-- its row has no statement, and an advice that names them.
with wanted as (
  select w.position, w.name, r.oid
  from (values (1, $1::json ->> 'login'), (2, $1::json ->> 'anon'), (3, $1::json ->> 'authenticated'), (4, $1::json ->> 'service'),
    (5, $1::json ->> 'auth')) as w (position, name)
  left join pg_catalog.pg_roles r on r.rolname = w.name
),
grantees as (
  select pg_catalog.array_agg(w.oid) as oids,
    pg_catalog.string_agg(pg_catalog.quote_ident(w.name), ', ' order by w.position) as list
  from wanted w where w.oid is not null
),
namespace as (
  select n.oid, n.nspname, n.nspacl
  from pg_catalog.pg_namespace n
  where n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
),
own_policy as (
  select p.oid, p.polname, n.nspname, c.relname
  from pg_catalog.pg_policy p
  join pg_catalog.pg_class c on c.oid = p.polrelid
  join namespace n on n.oid = c.relnamespace and n.nspname in ('auth', 'pgreflect_queue')
  join wanted w on w.name = $1::json ->> 'auth' and p.polroles = array[w.oid]
),
needed (role, what) as (
  select w.oid, case
      when d.dbid not in (0, b.oid) then pg_catalog.format('used in database "%s"', o.datname)
      else case d.deptype when 'o' then 'owner of ' when 'r' then 'target of ' else 'with privileges for ' end
        || pg_catalog.pg_describe_object(d.classid, d.objid, d.objsubid) end
  from wanted w
  join pg_catalog.pg_shdepend d on d.refclassid = 'pg_catalog.pg_authid'::pg_catalog.regclass and d.refobjid = w.oid
  join pg_catalog.pg_database b on b.datname = pg_catalog.current_database()
  left join pg_catalog.pg_database o on o.oid = d.dbid
  where not (d.dbid = b.oid and d.deptype = 'a' and case d.classid
      when 'pg_catalog.pg_class'::pg_catalog.regclass then exists (
        select from pg_catalog.pg_class c join namespace n on n.oid = c.relnamespace where c.oid = d.objid)
      when 'pg_catalog.pg_proc'::pg_catalog.regclass then exists (
        select from pg_catalog.pg_proc p join namespace n on n.oid = p.pronamespace where p.oid = d.objid)
      when 'pg_catalog.pg_namespace'::pg_catalog.regclass then d.objid in (select n.oid from namespace n)
      when 'pg_catalog.pg_default_acl'::pg_catalog.regclass then exists (
        select from pg_catalog.pg_default_acl a join namespace n on n.oid = a.defaclnamespace
        where a.oid = d.objid and a.defaclobjtype in ('r', 'S', 'f'))
      else false end)
    and not (d.dbid = b.oid and d.classid = 'pg_catalog.pg_policy'::pg_catalog.regclass and exists (
      select from own_policy p where p.oid = d.objid))
  group by 1, 2
),
need (role, list) as (
  select n.role, pg_catalog.string_agg(n.what, '; ' order by n.place) filter (where n.place <= 5)
    || case when pg_catalog.max(n.place) > 5 then pg_catalog.format(' and %s more', pg_catalog.max(n.place) - 5) else '' end
  from (select n.role, n.what, pg_catalog.row_number() over (partition by n.role order by n.what) as place from needed n) n
  group by n.role
),
step (section, position, topic, statement, advice) as (
  select 0, pg_catalog.row_number() over (order by p.nspname, p.relname), pg_catalog.format('policy of "%s" on %I.%I', p.polname, p.nspname, p.relname),
    pg_catalog.format('drop policy %I on %I.%I', p.polname, p.nspname, p.relname),
    null::text
  from own_policy p
  union all
  select 1, pg_catalog.row_number() over (order by n.nspname, d.defaclobjtype, d.defaclrole),
    pg_catalog.format('privileges on new %s of schema "%s"', k.name, n.nspname),
    pg_catalog.format('alter default privileges for role %s in schema %I revoke all on %s from %s',
      d.defaclrole::pg_catalog.regrole, n.nspname, k.name, g.list),
    null::text
  from pg_catalog.pg_default_acl d
  join namespace n on n.oid = d.defaclnamespace
  join (values ('r'::"char", 'tables'), ('S'::"char", 'sequences'), ('f'::"char", 'routines')) as k (type, name)
    on k.type = d.defaclobjtype
  cross join grantees g
  where exists (select from pg_catalog.aclexplode(d.defaclacl) e where e.grantee = any (g.oids))
  union all
  select 2, pg_catalog.row_number() over (order by n.nspname), pg_catalog.format('privileges on tables of schema "%s"', n.nspname),
    pg_catalog.format('revoke all on all tables in schema %I from %s', n.nspname, g.list), null
  from namespace n cross join grantees g
  where exists (
    select from pg_catalog.pg_class c
    left join pg_catalog.pg_attribute t on t.attrelid = c.oid and t.attacl is not null
    cross join lateral pg_catalog.aclexplode(coalesce(t.attacl, c.relacl)) e
    where c.relnamespace = n.oid and c.relkind <> 'S' and e.grantee = any (g.oids) and c.relowner <> e.grantee
    union all
    select from pg_catalog.pg_class c cross join lateral pg_catalog.aclexplode(c.relacl) e
    where c.relnamespace = n.oid and c.relkind <> 'S' and e.grantee = any (g.oids) and c.relowner <> e.grantee)
  union all
  select 3, pg_catalog.row_number() over (order by n.nspname), pg_catalog.format('privileges on sequences of schema "%s"', n.nspname),
    pg_catalog.format('revoke all on all sequences in schema %I from %s', n.nspname, g.list), null
  from namespace n cross join grantees g
  where exists (
    select from pg_catalog.pg_class c cross join lateral pg_catalog.aclexplode(c.relacl) e
    where c.relnamespace = n.oid and c.relkind = 'S' and e.grantee = any (g.oids) and c.relowner <> e.grantee)
  union all
  select 4, pg_catalog.row_number() over (order by n.nspname), pg_catalog.format('privileges on routines of schema "%s"', n.nspname),
    pg_catalog.format('revoke all on all routines in schema %I from %s', n.nspname, g.list), null
  from namespace n cross join grantees g
  where exists (
    select from pg_catalog.pg_proc p cross join lateral pg_catalog.aclexplode(p.proacl) e
    where p.pronamespace = n.oid and e.grantee = any (g.oids) and p.proowner <> e.grantee)
  union all
  select 5, pg_catalog.row_number() over (order by n.nspname), pg_catalog.format('privileges on schema "%s"', n.nspname),
    pg_catalog.format('revoke all on schema %I from %s', n.nspname, g.list), null
  from namespace n cross join grantees g
  where exists (select from pg_catalog.aclexplode(n.nspacl) e where e.grantee = any (g.oids))
  union all
  select 6, w.position, pg_catalog.format('role "%s"', w.name),
    case when w.oid is not null and e.role is null then pg_catalog.format('drop role %I', w.name) end,
    pg_catalog.format('The role "%s" stays, because it is: ', w.name) || e.list || pg_catalog.format('. When that has changed: drop role %I', w.name)
  from wanted w left join need e on e.role = w.oid
)
select s.topic, s.statement, s.advice from step s order by s.section, s.position
