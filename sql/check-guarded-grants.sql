-- The commands that permissive policies let roles run on tables with row security and a key. For roles that bypass row security,
-- all commands on all tables.
--
-- $1: names of the schemas, $2: names of roles. One row per table and role: name, role, bypasses (row security), commands (array of
-- names).
select pg_catalog.format('%I.%I', n.nspname, c.relname) as name, r.rolname as role, r.rolsuper or r.rolbypassrls as bypasses, p.commands
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
join pg_catalog.pg_roles r on r.rolname = any ($2::text[])
cross join lateral (
  select case when r.rolsuper or r.rolbypassrls then array['SELECT', 'INSERT', 'UPDATE', 'DELETE'] else array(
    select w.command
    from (values ('SELECT', 'r'), ('INSERT', 'a'), ('UPDATE', 'w'), ('DELETE', 'd')) as w (command, letter)
    where c.relrowsecurity and exists (select from pg_catalog.pg_index i where i.indrelid = c.oid and i.indisprimary) and exists (
      select from pg_catalog.pg_policy p
      where p.polrelid = c.oid and p.polpermissive and p.polcmd in ('*', w.letter::"char")
        and (0 = any (p.polroles) or exists (
          select from pg_catalog.unnest(p.polroles) as o (oid) where o.oid <> 0 and pg_catalog.pg_has_role(r.oid, o.oid, 'usage'))))
  ) end as commands
) p
where n.nspname = any ($1::text[]) and c.relkind in ('r', 'p', 'v', 'm', 'f') and pg_catalog.cardinality(p.commands) > 0
