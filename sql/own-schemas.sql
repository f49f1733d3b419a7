-- Fails if an untrusted role decides what some schemas contain: the owner of a table or function that we use could run code
-- as us, and `create … if not exists` and `create or replace` keep the owner.
--
-- The setting `pgreflect.own_schemas` names the schemas, separated by commas; `pgreflect.own_tables` what must be tables there;
-- `pgreflect.written_tables` those on which nobody untrusted may have triggers; `pgreflect.adopted_roles` (JSON, a list) the
-- roles that the operator trusts. Others that are trusted are superusers, the user who runs this, and whoever may act as that user
-- anyway. No name is trusted.
do $body$
declare
  found text;
begin
  with schema (oid, name, owner, acl) as (
    select n.oid, n.nspname, n.nspowner, n.nspacl
    from pg_catalog.pg_namespace n
    where n.nspname::pg_catalog.text operator(pg_catalog.=) any (
      pg_catalog.string_to_array(pg_catalog.current_setting('pgreflect.own_schemas'), ','))
  ),
  untrusted (oid, name) as (
    select r.oid, r.rolname::pg_catalog.text
    from pg_catalog.pg_roles r
    where not r.rolsuper and r.rolname operator(pg_catalog.<>) all (array[current_user, session_user])
      and r.rolname::pg_catalog.text operator(pg_catalog.<>) all (array(
        select e.value from pg_catalog.json_array_elements_text(pg_catalog.current_setting('pgreflect.adopted_roles')::pg_catalog.json) e))
      and not pg_catalog.pg_has_role(r.oid, session_user, 'MEMBER')
      -- Until PostgreSQL 16, these may grant themselves every role that is no superuser.
      and not (r.rolcreaterole and pg_catalog.current_setting('server_version_num')::pg_catalog.int4 operator(pg_catalog.<) 160000
        and exists (select from pg_catalog.pg_roles me where me.rolname operator(pg_catalog.=) session_user and not me.rolsuper))
    union all
    select 0, 'public'
  ),
  -- Joined before they are named, because a database has thousands.
  thing (role, what) as (
    select u.name, pg_catalog.format('schema %I', s.name)
    from schema s join untrusted u on u.oid operator(pg_catalog.=) s.owner
    union all
    select u.name, pg_catalog.format('%s', c.oid::pg_catalog.regclass)
    from pg_catalog.pg_class c join schema s on s.oid operator(pg_catalog.=) c.relnamespace join untrusted u on u.oid operator(pg_catalog.=) c.relowner
    union all
    select u.name, pg_catalog.format('%s', p.oid::pg_catalog.regprocedure)
    from pg_catalog.pg_proc p join schema s on s.oid operator(pg_catalog.=) p.pronamespace join untrusted u on u.oid operator(pg_catalog.=) p.proowner
    union all
    select u.name, pg_catalog.format('type %s', t.oid::pg_catalog.regtype)
    from pg_catalog.pg_type t join schema s on s.oid operator(pg_catalog.=) t.typnamespace join untrusted u on u.oid operator(pg_catalog.=) t.typowner
    union all
    select u.name, pg_catalog.format('operator %s', o.oid::pg_catalog.regoperator)
    from pg_catalog.pg_operator o join schema s on s.oid operator(pg_catalog.=) o.oprnamespace join untrusted u on u.oid operator(pg_catalog.=) o.oprowner
  ),
  written ("table", acl) as (
    select c.oid::pg_catalog.regclass, c.relacl
    from pg_catalog.pg_class c join schema s on s.oid operator(pg_catalog.=) c.relnamespace
    where pg_catalog.concat(s.name, '.', c.relname) operator(pg_catalog.=) any (
      pg_catalog.string_to_array(pg_catalog.current_setting('pgreflect.written_tables'), ','))
  ),
  problem (rank, role, what) as (
    select 1, t.role, pg_catalog.format('%s belongs to the role "%s", who could run code of their own through it', t.what, t.role)
    from thing t
    union all
    select 2, u.name, case when u.oid operator(pg_catalog.=) 0
      then pg_catalog.format('everybody may create objects in the schema %I: revoke create on schema %I from public', s.name, s.name)
      else pg_catalog.format('the role "%s" may create objects in the schema %I, and so could run code of their own there', u.name, s.name) end
    from schema s
    cross join lateral pg_catalog.aclexplode(s.acl) a
    join untrusted u on u.oid operator(pg_catalog.=) a.grantee
    where a.privilege_type operator(pg_catalog.=) 'CREATE'
    union all
    select 4, u.name, case when u.oid operator(pg_catalog.=) 0
      then pg_catalog.format('everybody may create triggers on %s: revoke trigger on %s from public', w."table", w."table")
      else pg_catalog.format('the role "%s" may create triggers on %s, which would run as you', u.name, w."table") end
    from written w
    cross join lateral pg_catalog.aclexplode(w.acl) a
    join untrusted u on u.oid operator(pg_catalog.=) a.grantee
    where a.privilege_type operator(pg_catalog.=) 'TRIGGER'
    union all
    select 5, u.name, pg_catalog.format('a trigger of %s runs the function %s of the role "%s" as you',
      w."table", p.oid::pg_catalog.regprocedure, u.name)
    from written w
    join pg_catalog.pg_trigger t on t.tgrelid operator(pg_catalog.=) w."table"
    join pg_catalog.pg_proc p on p.oid operator(pg_catalog.=) t.tgfoid
    join untrusted u on u.oid operator(pg_catalog.=) p.proowner
    union all
    -- What we read and write ourselves is a table that runs no code.
    select 3, null, pg_catalog.format('%s is not a plain table', c.oid::pg_catalog.regclass)
    from pg_catalog.pg_class c join schema s on s.oid operator(pg_catalog.=) c.relnamespace
    where c.relname operator(pg_catalog.=) any (array['pgreflect_migrations', 'catalog_change', 'live_change', 'live_mark', 'live_schema']::pg_catalog.name[]) and (
      c.relkind operator(pg_catalog.<>) 'r'
      or exists (select from pg_catalog.pg_rewrite w where w.ev_class operator(pg_catalog.=) c.oid)
      or exists (select from pg_catalog.pg_trigger t where t.tgrelid operator(pg_catalog.=) c.oid and not t.tgisinternal)
      or exists (select from pg_catalog.pg_inherits i where i.inhparent operator(pg_catalog.=) c.oid)
      or exists (
        select from pg_catalog.pg_policy p
        where p.polrelid operator(pg_catalog.=) c.oid
          and (pg_catalog.pg_get_expr(p.polqual, p.polrelid) operator(pg_catalog.<>) 'true'
            or pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid) operator(pg_catalog.<>) 'true')))
    union all
    select 3, null, pg_catalog.format('%s is not a table', c.oid::pg_catalog.regclass)
    from pg_catalog.pg_class c join schema s on s.oid operator(pg_catalog.=) c.relnamespace
    where pg_catalog.concat(s.name, '.', c.relname) operator(pg_catalog.=) any (
        pg_catalog.string_to_array(pg_catalog.current_setting('pgreflect.own_tables'), ','))
      and c.relkind operator(pg_catalog.<>) all (array['r', 'p']::pg_catalog."char"[])
  )
  select pg_catalog.concat_ws('. ',
    (select p.what from problem p order by p.rank, p.what limit 1),
    (select pg_catalog.format('To trust %s and everybody who may act as them: --adopt-role %s',
        pg_catalog.string_agg(pg_catalog.quote_ident(r.role), ', ' order by r.role),
        -- A role may be called as a command of a shell, which this is pasted into.
        case when pg_catalog.bool_and(r.role operator(pg_catalog.~) '^[A-Za-z0-9_.-]+$') then pg_catalog.string_agg(r.role, ',' order by r.role)
          else pg_catalog.concat('''', pg_catalog.replace(pg_catalog.string_agg(r.role, ',' order by r.role), '''', '''"''"'''), '''') end)
      from (select distinct p.role from problem p where p.role operator(pg_catalog.<>) 'public') r
      having pg_catalog.count(*) operator(pg_catalog.>) 0))
  into found
  where exists (select from problem);
  if found is not null then
    raise exception '%', found using errcode = '42501';
  end if;
end $body$;
