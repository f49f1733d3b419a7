-- Why user code is not run on this connection: it could do more than on one of the gateway, because it may reset the role.
--
-- $1: json with roles (the API roles, which the gateway's login may become). One row: login, reason (the end of a sentence; null
-- where the login could be the gateway's).
with recursive reached (oid) as (
  select r.oid from pg_catalog.pg_roles r where r.rolname = session_user
  union
  select m.roleid
  from reached b
  join pg_catalog.pg_auth_members m on m.member = b.oid
  join pg_catalog.pg_roles r on r.oid = m.roleid
  where r.rolname not in (select a.value from pg_catalog.json_array_elements_text($1::json -> 'roles') as a)
),
power (position, what) as (
  select 1, 'is a superuser' from pg_catalog.pg_roles r where r.rolname = session_user and r.rolsuper
  union all
  -- A right of a role is there once `set role` has taken it, in functions too.
  select 2, case when r.rolname = session_user then k.may else pg_catalog.format('may become "%s", which %s', r.rolname, k.may) end
  from reached b
  join pg_catalog.pg_roles r on r.oid = b.oid
  cross join lateral (values
    (r.rolbypassrls, 'passes row security'),
    (r.rolcreaterole, 'may create roles'),
    (r.rolreplication, 'may read all changes by replication'),
    (r.rolcreatedb, 'may create databases')) as k (has, may)
  where k.has and not r.rolsuper
  union all
  select 3, pg_catalog.format('may become "%s"', r.rolname)
  from reached b join pg_catalog.pg_roles r on r.oid = b.oid
  where r.rolname <> session_user and (r.rolname ~ '^pg_' or r.rolsuper)
  union all
  select 4, pg_catalog.format('%s %s',
    case when r.rolname = session_user then case d.deptype when 'o' then 'owns' else 'has rights on' end
      else pg_catalog.format('may become "%s", which %s', r.rolname, case d.deptype when 'o' then 'owns' else 'has rights on' end) end,
    pg_catalog.pg_describe_object(d.classid, d.objid, 0))
  from reached b
  join pg_catalog.pg_roles r on r.oid = b.oid
  join pg_catalog.pg_shdepend d on d.refclassid = 'pg_catalog.pg_authid'::regclass and d.refobjid = b.oid
    and d.dbid in (0, (select o.oid from pg_catalog.pg_database o where o.datname = pg_catalog.current_database()))
  where d.deptype = 'o'
    or d.deptype = 'a' and d.classid = 'pg_catalog.pg_class'::regclass and not exists (
      select from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where c.oid = d.objid and n.nspname = 'pgreflect')
)
select session_user as login, (select p.what from power p order by p.position, p.what limit 1) as reason
