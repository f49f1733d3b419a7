-- Reads which of the roles in $1 may do what with the tables of the exposed namespaces and their functions, and the policies in their way.
-- Reads the setting `pgreflect.exposed` (exposed-names.sql). One row, with JSON texts: management/access/access-rows.ts has their types.
with recursive
roles as materialized (
  select r.oid, r.rolname, r.rolsuper or r.rolbypassrls as bypasses
  from pg_catalog.pg_roles r
  where r.rolname = any ($1::pg_catalog.text[])
),
namespaces as materialized (
  select n.oid, n.nspname
  from pg_catalog.pg_namespace n
  where n.nspname = any (pg_catalog.current_setting('pgreflect.exposed')::pg_catalog.text[])
),
tables as materialized (
  select c.oid, n.nspname, c.relname, c.relkind, c.relowner, c.relrowsecurity, c.relforcerowsecurity, c.reloptions, c.relacl, n.oid as namespace
  from pg_catalog.pg_class c
  join namespaces n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v', 'm', 'f')
),
-- As in catalog.sql: PostgreSQL fails if it is asked whether these can be written.
unreachable (oid) as (
  select ft.ftrelid
  from pg_catalog.pg_foreign_table ft
  join pg_catalog.pg_foreign_server s on s.oid = ft.ftserver
  join pg_catalog.pg_foreign_data_wrapper w on w.oid = s.srvfdw and w.fdwhandler = 0
  union
  select r.ev_class
  from unreachable u
  join pg_catalog.pg_depend d on d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refobjid = u.oid
    and d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
  join pg_catalog.pg_rewrite r on r.oid = d.objid
),
-- Looked up by the index for each table: all of them, kept, would be looked through for each.
columns as not materialized (
  select a.attrelid, a.attname, a.attnum, a.attacl, a.atttypid
  from pg_catalog.pg_attribute a
  where a.attnum > 0 and not a.attisdropped
),
-- Whoever owns tables writes many megabytes of conditions, in one or in many.
longest as materialized (
  select greatest(200, least(10000, 5000000 / greatest(pg_catalog.count(*), 1)))::pg_catalog.int4 as characters
  from pg_catalog.pg_policy p
  join tables t on t.oid = p.polrelid
)
select
  (
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
      'name', r.rolname, 'object', pg_catalog.quote_ident(r.rolname), 'bypassesRowSecurity', r.bypasses)), '[]')
    from roles r
  ) as roles,
  (
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
      'schema', t.nspname, 'name', t.relname, 'object', pg_catalog.format('%I.%I', t.nspname, t.relname), 'kind', t.relkind, 'owner', o.rolname,
      'ownerBypasses', o.rolsuper or o.rolbypassrls,
      'rowSecurity', t.relrowsecurity, 'forced', t.relforcerowsecurity,
      'invoker', coalesce((
        select p.option_value::pg_catalog.bool from pg_catalog.pg_options_to_table(t.reloptions) p
        where p.option_name = 'security_invoker'), false),
      'writable', case
        when t.relkind in ('r', 'p') then 28
        when t.relkind = 'm' or t.oid in (select u.oid from unreachable u) then 0
        else pg_catalog.pg_relation_is_updatable(t.oid, true) end,
      'columns', (select coalesce(pg_catalog.json_agg(a.attname order by a.attnum), '[]') from columns a where a.attrelid = t.oid),
      'uuidColumns', (
        select coalesce(pg_catalog.json_agg(a.attname order by a.attnum), '[]') from columns a
        where a.attrelid = t.oid and a.atttypid = 'pg_catalog.uuid'::pg_catalog.regtype),
      'indexedColumns', (
        select coalesce(pg_catalog.json_agg(a.attname order by a.attnum), '[]') from columns a
        where a.attrelid = t.oid and exists (
          select from pg_catalog.pg_index i
          where i.indrelid = t.oid and i.indisvalid and i.indpred is null and i.indkey[0] = a.attnum)),
      'otherGrantees', (
        select coalesce(pg_catalog.json_agg(distinct g.rolname), '[]')
        from (
          select t.relacl as acl
          union all
          select a.attacl from columns a where a.attrelid = t.oid and a.attacl is not null
        ) s
        cross join lateral pg_catalog.aclexplode(s.acl) e
        join pg_catalog.pg_roles g on g.oid = e.grantee and g.oid <> t.relowner and not (g.rolsuper or g.rolbypassrls)
        where not exists (select from roles r where r.oid = g.oid)),
      'references', (
        select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
          'column', a.attname, 'object', pg_catalog.format('%I.%I', n.nspname, c.relname), 'key', k.attname) order by a.attnum, f.conname), '[]')
        from pg_catalog.pg_constraint f
        join columns a on a.attrelid = f.conrelid and a.attnum = f.conkey[1]
        join pg_catalog.pg_class c on c.oid = f.confrelid
        join pg_catalog.pg_namespace n on n.oid = c.relnamespace
        join pg_catalog.pg_attribute k on k.attrelid = f.confrelid and k.attnum = f.confkey[1]
        where f.conrelid = t.oid and f.contype = 'f' and pg_catalog.cardinality(f.conkey) = 1),
      'roles', (
        select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
          'role', r.rolname,
          'usage', pg_catalog.has_schema_privilege(r.oid, t.namespace, 'usage'),
          'exempt', not t.relrowsecurity or r.bypasses
            or not t.relforcerowsecurity and pg_catalog.pg_has_role(r.oid, t.relowner, 'usage'),
          'grants', (
            select pg_catalog.json_object_agg(g.name, pg_catalog.json_build_object(
              'on', case
                when pg_catalog.has_table_privilege(r.oid, t.oid, g.name) then 'true'::pg_catalog.json
                when g.name <> 'delete' and pg_catalog.has_any_column_privilege(r.oid, t.oid, g.name) then (
                  select pg_catalog.json_agg(a.attname order by a.attnum) from columns a
                  where a.attrelid = t.oid and pg_catalog.has_column_privilege(r.oid, t.oid, a.attnum, g.name))
                else 'false'::pg_catalog.json end,
              'to', (
                select coalesce(pg_catalog.json_agg(distinct case when e.grantee = 0 then 'public' else pg_catalog.pg_get_userbyid(e.grantee)::pg_catalog.text end), '[]')
                from (
                  select coalesce(t.relacl, pg_catalog.acldefault('r', t.relowner)) as acl
                  union all
                  select a.attacl from columns a where a.attrelid = t.oid and a.attacl is not null
                ) s
                cross join lateral pg_catalog.aclexplode(s.acl) e
                where pg_catalog.lower(e.privilege_type) = g.name and (e.grantee = 0 or pg_catalog.pg_has_role(r.oid, e.grantee, 'usage')))))
            from (values ('select'), ('insert'), ('update'), ('delete')) g (name))
        ) order by r.rolname), '[]')
        from roles r
      ),
      'policies', (
        select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
          'name', p.polname, 'command', p.polcmd, 'isPermissive', p.polpermissive,
          'roles', (
            select pg_catalog.json_agg(case when u.oid = 0 then 'public' else pg_catalog.pg_get_userbyid(u.oid) end)
            from pg_catalog.unnest(p.polroles) u (oid)),
          'appliesTo', (
            select coalesce(pg_catalog.json_agg(r.rolname), '[]') from roles r
            where exists (
              select from pg_catalog.unnest(p.polroles) u (oid)
              where u.oid = 0 or pg_catalog.pg_has_role(r.oid, u.oid, 'usage'))),
          'using', case when pg_catalog.length(u.text) > l.characters then pg_catalog.left(u.text, l.characters) || ' …' else u.text end,
          'check', case when pg_catalog.length(c.text) > l.characters then pg_catalog.left(c.text, l.characters) || ' …' else c.text end
        ) order by p.polname), '[]')
        from pg_catalog.pg_policy p
        cross join longest l
        cross join lateral pg_catalog.pg_get_expr(p.polqual, p.polrelid, true) u (text)
        cross join lateral pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid, true) c (text)
        where p.polrelid = t.oid
      )
    ) order by t.nspname, t.relname), '[]')
    from tables t
    join pg_catalog.pg_roles o on o.oid = t.relowner
  ) as tables,
  (
    select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
      'object', pg_catalog.format('%I.%I(%s)', n.nspname, p.proname, pg_catalog.pg_get_function_identity_arguments(p.oid)),
      'owner', pg_catalog.pg_get_userbyid(p.proowner), 'isDefiner', p.prosecdef,
      'roles', (
        select coalesce(pg_catalog.json_agg(r.rolname order by r.rolname), '[]') from roles r
        where pg_catalog.has_schema_privilege(r.oid, n.oid, 'usage') and pg_catalog.has_function_privilege(r.oid, p.oid, 'execute'))
    ) order by n.nspname, p.proname, p.oid), '[]')
    from pg_catalog.pg_proc p
    join namespaces n on n.oid = p.pronamespace
    where p.prokind in ('f', 'p') and not exists (
      select from pg_catalog.pg_depend d
      where d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass and d.objid = p.oid and d.deptype = 'e')
  ) as functions
