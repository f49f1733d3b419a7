-- The statements that are missing for the login of the auth service.
--
-- $1: JSON with `role` (its name) and `verifier` (password verifier for a new role, or null). Rows as in roles.sql.
with asked as (
  select $1::json ->> 'role' as role, $1::json ->> 'verifier' as verifier
)
select pg_catalog.format('login role "%s" of the auth service', a.role) as topic,
  case when r.oid is null then pg_catalog.format('create role %I login noinherit', a.role)
    || case when a.verifier is null then '' else pg_catalog.format(' password %L', a.verifier) end end as statement,
  case
    when r.oid is null and a.verifier is null then pg_catalog.format('Then give it a password, in psql: \password %I', a.role)
    when r.oid is not null and not r.rolcanlogin then
      pg_catalog.format('Role "%s" exists but may not log in: alter role %I login;', a.role, a.role)
    when r.rolsuper then pg_catalog.format('Role "%s" is a superuser, which the auth service need not be.', a.role) end as advice
from asked a left join pg_catalog.pg_roles r on r.rolname = a.role
union all
-- The owner of function hooks must be a member of the role: the current user, unless a superuser, who counts as a
-- member of every role.
select pg_catalog.format('"%s" is a member of "%s"', current_user, a.role),
  case when r.oid is null or not pg_catalog.pg_has_role(current_user, r.oid, 'member') and g.may
    then pg_catalog.format('grant %I to %I', a.role, current_user) end,
  case when not pg_catalog.pg_has_role(current_user, r.oid, 'member') and not g.may
    then pg_catalog.format('For functions of "%1$s" as hooks, a superuser can: grant %2$I to %1$I;', current_user, a.role) end
from asked a left join pg_catalog.pg_roles r on r.rolname = a.role
join pg_catalog.pg_roles m on m.rolname = current_user and not m.rolsuper
cross join lateral (
  select m.rolcreaterole and pg_catalog.current_setting('server_version_num')::int < 160000
    or pg_catalog.pg_has_role(current_user, r.oid, 'member with admin option') as may
) g
