-- Fails if an untrusted role owns an object in some schemas: the owner of a table or function that we use could run code
-- as us, and `create … if not exists` and `create or replace` keep the owner.
--
-- The setting `pgreflect.own_schemas` names the schemas, separated by commas. Trusted are superusers, the current user,
-- and the login of Supabase Auth.
do $body$
declare
  found text;
begin
  select pg_catalog.format('%s belongs to the role "%s", who could run code of their own through it', o.what, r.rolname) into found
  from (
    select n.oid as schema, n.nspowner as owner, pg_catalog.format('schema %I', n.nspname) as what from pg_catalog.pg_namespace n
    union all
    select c.relnamespace, c.relowner, pg_catalog.format('%s', c.oid::pg_catalog.regclass) from pg_catalog.pg_class c
    union all
    select p.pronamespace, p.proowner, pg_catalog.format('%s', p.oid::pg_catalog.regprocedure) from pg_catalog.pg_proc p
    union all
    select t.typnamespace, t.typowner, pg_catalog.format('type %s', t.oid::pg_catalog.regtype) from pg_catalog.pg_type t
  ) o
  join pg_catalog.pg_namespace n on n.oid operator(pg_catalog.=) o.schema
  join pg_catalog.pg_roles r on r.oid operator(pg_catalog.=) o.owner
  where n.nspname::pg_catalog.text operator(pg_catalog.=) any (
      pg_catalog.string_to_array(pg_catalog.current_setting('pgreflect.own_schemas'), ','))
    and not r.rolsuper
    and r.rolname::pg_catalog.text operator(pg_catalog.<>) all (array[current_user::pg_catalog.text, 'supabase_auth_admin'])
  limit 1;
  if found is not null then
    raise exception '%', found using errcode = '42501';
  end if;
end $body$;
