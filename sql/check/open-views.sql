-- Views of some schemas that run with the rights of their owner and are no security barrier, over tables whose rows a role may
-- not all read.
--
-- $1: schemas. $2: roles (those that bypass row security do not count).
-- One row per view: oid, name, queries (texts of `pg_node_tree`: its own, and those of such views that it reads), hidden (JSON:
-- by role that may select from the view, the tables whose rows it may not all read), fix (a statement).
with recursive views as (
  select c.oid, c.relname, c.relnamespace,
    coalesce((o.options ->> 'security_barrier')::pg_catalog.bool, false) or coalesce((o.options ->> 'security_invoker')::pg_catalog.bool, false) as is_safe
  from pg_catalog.pg_class c
  cross join lateral (
    select pg_catalog.json_object_agg(p.option_name, p.option_value) as options from pg_catalog.pg_options_to_table(c.reloptions) p
  ) o
  where c.relkind = 'v'
),
below (view, oid) as (
  select v.oid, v.oid
  from views v
  where not v.is_safe and v.relnamespace in (select n.oid from pg_catalog.pg_namespace n where n.nspname = any ($1::pg_catalog.text[]))
  union
  select b.view, d.refobjid
  from below b
  join views v on v.oid = b.oid and not v.is_safe
  join pg_catalog.pg_rewrite w on w.ev_class = b.oid and w.rulename = '_RETURN'
  join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass and d.objid = w.oid
    and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
),
hidden as (
  select b.view, r.rolname, pg_catalog.json_agg(pg_catalog.format('%I.%I', n.nspname, t.relname) order by n.nspname, t.relname) as tables
  from below b
  join pg_catalog.pg_class t on t.oid = b.oid and not exists (select from views v where v.oid = b.oid and not v.is_safe)
  join pg_catalog.pg_namespace n on n.oid = t.relnamespace
  join pg_catalog.pg_roles r on r.rolname = any ($2::pg_catalog.text[]) and not r.rolsuper and not r.rolbypassrls
  where pg_catalog.has_any_column_privilege(r.oid, b.view, 'select') and (
    not pg_catalog.has_any_column_privilege(r.oid, t.oid, 'select')
    or t.relrowsecurity and not coalesce((
      select pg_catalog.bool_or(p.polpermissive and pg_catalog.pg_get_expr(p.polqual, p.polrelid) = 'true')
        and pg_catalog.bool_and(p.polpermissive or pg_catalog.pg_get_expr(p.polqual, p.polrelid) = 'true')
      from pg_catalog.pg_policy p
      where p.polrelid = t.oid and p.polcmd in ('r', '*')
        and (0 = any (p.polroles) or exists (
          select from pg_catalog.unnest(p.polroles) u (oid) where u.oid <> 0 and pg_catalog.pg_has_role(r.oid, u.oid, 'usage')))
    ), false))
  group by b.view, r.rolname
)
select v.oid::pg_catalog.text as oid, pg_catalog.format('%I.%I', n.nspname, v.relname) as name,
  (select pg_catalog.array_agg(w.ev_action::pg_catalog.text)
    from below b
    join views u on u.oid = b.oid and not u.is_safe
    join pg_catalog.pg_rewrite w on w.ev_class = b.oid and w.rulename = '_RETURN'
    where b.view = v.oid) as queries,
  (select pg_catalog.json_object_agg(h.rolname, h.tables) from hidden h where h.view = v.oid) as hidden,
  pg_catalog.format('alter view %I.%I set (security_barrier = true)', n.nspname, v.relname) as fix
from views v
join pg_catalog.pg_namespace n on n.oid = v.relnamespace
where v.oid in (select h.view from hidden h)
order by n.nspname, v.relname
