-- Grants a role that owns nothing the rows of the auth tables, and nothing else. The setting `pgreflect.auth_role` names it. Does only
-- what is missing, so it may be run again. `pgreflect.auth_role_changed` says whether anything was missing. With
-- `pgreflect.auth_role_look` = `true`, that is all.

do $body$
declare
  service regrole := pg_catalog.quote_ident(pg_catalog.current_setting('pgreflect.auth_role'))::regrole;
  statement text;
begin
  perform pg_catalog.set_config('pgreflect.auth_role_changed', 'false', true);
  for statement in
    with own as (
      select n.oid, n.nspname from pg_catalog.pg_namespace n where n.nspname in ('auth', 'pgreflect_queue')
    ),
    relation as (
      select c.oid, c.relkind, c.relrowsecurity, pg_catalog.format('%I.%I', n.nspname, c.relname) as name
      from pg_catalog.pg_class c join own n on n.oid = c.relnamespace
    )
    select pg_catalog.format('grant usage on schema %I to %s', n.nspname, service)
    from own n where not pg_catalog.has_schema_privilege(service, n.oid, 'usage')
    union all
    select pg_catalog.format('grant select, insert, update, delete on %s to %s', r.name, service)
    from relation r
    where r.relkind in ('r', 'p') and not (
      pg_catalog.has_table_privilege(service, r.oid, 'select') and pg_catalog.has_table_privilege(service, r.oid, 'insert')
      and pg_catalog.has_table_privilege(service, r.oid, 'update') and pg_catalog.has_table_privilege(service, r.oid, 'delete'))
    union all
    select pg_catalog.format('grant usage on sequence %s to %s', r.name, service)
    from relation r
    where case when r.relkind = 'S' then not pg_catalog.has_sequence_privilege(service, r.oid, 'usage') end
    union all
    -- Row security keeps everyone except the owner from these tables.
    select pg_catalog.format('create policy %s on %s to %s using (true) with check (true)', service, r.name, service)
    from relation r
    where r.relrowsecurity and not exists (
      select from pg_catalog.pg_policy p where p.polrelid = r.oid and p.polroles = array[service::oid])
  loop
    if pg_catalog.current_setting('pgreflect.auth_role_look', true) is distinct from 'true' then
      execute statement;
    end if;
    perform pg_catalog.set_config('pgreflect.auth_role_changed', 'true', true);
  end loop;
end $body$;
