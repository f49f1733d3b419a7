-- The statements that are missing in a database for the gateway, in order.
--
-- $1: json with the names: anon, authenticated, service, login, verifier (password verifier for a new login role, or
-- null), schemas (array), grantDefaults (boolean). One row per step: topic (in plain words), statement (null if
-- nothing is missing), advice (null, or a sentence).
with asked as (
  select
    $1::json ->> 'anon' as anon, $1::json ->> 'authenticated' as authenticated, $1::json ->> 'service' as service,
    $1::json ->> 'login' as login, $1::json ->> 'verifier' as verifier, ($1::json ->> 'grantDefaults')::boolean as grant_defaults
),
me as (
  select
    r.oid,
    -- Only roles that bypass row security can grant that, and before version 16 only superusers.
    r.rolsuper or (r.rolcreaterole and r.rolbypassrls and pg_catalog.current_setting('server_version_num')::int >= 160000)
      as may_bypass
  from pg_catalog.pg_roles r
  where r.rolname = current_user
),
api_role as (
  select w.position, w.name, r.oid, r.rolbypassrls
  from asked a
  cross join lateral (values (1, a.anon), (2, a.authenticated), (3, a.service)) as w (position, name)
  left join pg_catalog.pg_roles r on r.rolname = w.name
),
grantees as (
  select pg_catalog.string_agg(pg_catalog.quote_ident(r.name), ', ' order by r.position) as list from api_role r
),
namespace as (
  select distinct on (n.oid) n.oid, n.nspname, w.position
  from pg_catalog.json_array_elements_text($1::json -> 'schemas') with ordinality as w (name, position)
  join pg_catalog.pg_namespace n on n.nspname = w.name
  where n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
  order by n.oid, w.position
),
step (section, position, topic, statement, advice) as (
  -- 1 roles
  select 1, r.position, pg_catalog.format('role "%s"', r.name),
    case when r.oid is null then
      pg_catalog.format('create role %I nologin noinherit%s', r.name,
        case when r.name = a.service and m.may_bypass then ' bypassrls' else '' end)
    when r.name = a.service and not r.rolbypassrls and m.may_bypass then pg_catalog.format('alter role %I bypassrls', r.name)
    end,
    case when r.name = a.service and not coalesce(r.rolbypassrls, false) and not m.may_bypass then
      pg_catalog.format('Role "%s" is subject to row security, because you may not hand on the right to pass it. '
        'A superuser can: alter role %I bypassrls;', r.name, r.name) end
  from api_role r, asked a, me m
  union all
  select 1, 4, pg_catalog.format('login role "%s"', a.login),
    case when r.oid is null then pg_catalog.format('create role %I login noinherit', a.login)
      || case when a.verifier is null then '' else pg_catalog.format(' password %L', a.verifier) end end,
    case when r.oid is null and a.verifier is null then
      pg_catalog.format('Then give it a password, in psql: \password %I', a.login)
    when r.oid is not null and not r.rolcanlogin then
      pg_catalog.format('Role "%s" exists but may not log in: alter role %I login;', a.login, a.login) end
  from asked a left join pg_catalog.pg_roles r on r.rolname = a.login
  union all
  -- 2 memberships; a superuser may become any role. The option to set a role exists since version 16.
  select 2, r.position, pg_catalog.format('"%s" may become "%s"', a.login, r.name),
    case when not coalesce(l.rolsuper, false) and not exists (
      select from pg_catalog.pg_auth_members g
      where g.roleid = r.oid and g.member = l.oid and coalesce((pg_catalog.to_jsonb(g) ->> 'set_option')::boolean, true)
    ) then pg_catalog.format('grant %I to %I', r.name, a.login) end,
    null
  from asked a cross join api_role r left join pg_catalog.pg_roles l on l.rolname = a.login
  union all
  -- 3 usage
  select 3, n.position::int, pg_catalog.format('usage on schema "%s"', n.nspname),
    case when exists (
      select from api_role r where r.oid is null or not pg_catalog.has_schema_privilege(r.oid, n.oid, 'usage')
    ) then pg_catalog.format('grant usage on schema %I to %s', n.nspname, g.list) end,
    null
  from namespace n, grantees g
  union all
  -- 4 grants on existing objects
  select 4, n.position::int, pg_catalog.format('all on tables of schema "%s"', n.nspname),
    case when exists (
      select from pg_catalog.pg_class c, api_role r
      where c.relnamespace = n.oid and c.relkind in ('r', 'p', 'v', 'm', 'f')
        and (r.oid is null or not (
          pg_catalog.has_table_privilege(r.oid, c.oid, 'select') and pg_catalog.has_table_privilege(r.oid, c.oid, 'insert')
          and pg_catalog.has_table_privilege(r.oid, c.oid, 'update') and pg_catalog.has_table_privilege(r.oid, c.oid, 'delete')
          and pg_catalog.has_table_privilege(r.oid, c.oid, 'truncate')
          and pg_catalog.has_table_privilege(r.oid, c.oid, 'references')
          and pg_catalog.has_table_privilege(r.oid, c.oid, 'trigger')))
    ) then pg_catalog.format('grant all on all tables in schema %I to %s', n.nspname, g.list) end,
    null
  from namespace n, grantees g, asked a where a.grant_defaults
  union all
  select 5, n.position::int, pg_catalog.format('all on sequences of schema "%s"', n.nspname),
    case when exists (
      select from pg_catalog.pg_class c, api_role r
      where c.relnamespace = n.oid
        and case when c.relkind = 'S' then r.oid is null or not (
          pg_catalog.has_sequence_privilege(r.oid, c.oid, 'usage') and pg_catalog.has_sequence_privilege(r.oid, c.oid, 'select')
          and pg_catalog.has_sequence_privilege(r.oid, c.oid, 'update')) else false end
    ) then pg_catalog.format('grant all on all sequences in schema %I to %s', n.nspname, g.list) end,
    null
  from namespace n, grantees g, asked a where a.grant_defaults
  union all
  select 6, n.position::int, pg_catalog.format('all on routines of schema "%s"', n.nspname),
    case when exists (
      select from pg_catalog.pg_proc p, api_role r
      where p.pronamespace = n.oid and (r.oid is null or not pg_catalog.has_function_privilege(r.oid, p.oid, 'execute'))
    ) then pg_catalog.format('grant all on all routines in schema %I to %s', n.nspname, g.list) end,
    null
  from namespace n, grantees g, asked a where a.grant_defaults
  union all
  -- 7 grants on objects that this role will create
  select 7, (n.position * 10 + k.position)::int,
    pg_catalog.format('all on new %s of schema "%s" made by "%s"', k.name, n.nspname, current_user),
    case when exists (
      select from api_role r
      where r.oid is null or not exists (
        select from pg_catalog.pg_default_acl d cross join lateral pg_catalog.aclexplode(d.defaclacl) e
        where d.defaclrole = m.oid and d.defaclnamespace = n.oid and d.defaclobjtype = k.type and e.grantee = r.oid)
    ) then pg_catalog.format('alter default privileges in schema %I grant all on %s to %s', n.nspname, k.name, g.list) end,
    null
  from namespace n, grantees g, me m, asked a
  cross join lateral (values (1, 'tables', 'r'::"char"), (2, 'sequences', 'S'::"char"), (3, 'routines', 'f'::"char"))
    as k (position, name, type)
  where a.grant_defaults
  union all
  -- 8 objects of the schema-change trigger must be readable
  select 8, 1, pg_catalog.format('"%s" may read the record of schema changes', a.login),
    case when l.oid is null or not pg_catalog.has_schema_privilege(l.oid, n.oid, 'usage')
      then pg_catalog.format('grant usage on schema pgreflect to %I', a.login) end,
    null
  from asked a join pg_catalog.pg_namespace n on n.nspname = 'pgreflect' left join pg_catalog.pg_roles l on l.rolname = a.login
  union all
  select 8, 2, pg_catalog.format('"%s" may read the table of schema changes', a.login),
    case when l.oid is null or not pg_catalog.has_table_privilege(l.oid, c.oid, 'select')
      then pg_catalog.format('grant select on pgreflect.catalog_change to %I', a.login) end,
    null
  from asked a
  join pg_catalog.pg_namespace n on n.nspname = 'pgreflect'
  join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = 'catalog_change'
  left join pg_catalog.pg_roles l on l.rolname = a.login
)
select s.topic, s.statement, s.advice from step s order by s.section, s.position
