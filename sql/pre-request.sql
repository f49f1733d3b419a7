-- Settings of PostgREST that the login has (`alter role … set pgrst.…`): those of this database before those of all, as PostgREST reads
-- them.
--
-- $1: names of the exposed namespaces; null: those of the setting `pgreflect.exposed` (exposed-names.sql). One row: `given` is the value of
-- `pgrst.db_pre_request`, null without one, `function` the name of what it calls, `found` whether that takes no arguments, and `others`
-- the names of the other settings. PostgREST takes no quotes: what stands before the first dot is the namespace. Without a dot, the
-- first exposed one that has the function counts.
with settings (name, value) as (
  select distinct on (s.name) s.name, s.value
  from (
    select d.setdatabase, lower(split_part(c.entry, '=', 1)) as name, btrim(substr(c.entry, strpos(c.entry, '=') + 1)) as value
    from pg_catalog.pg_db_role_setting d
    cross join lateral unnest(d.setconfig) c (entry)
    where d.setrole = (select r.oid from pg_catalog.pg_roles r where r.rolname = current_user)
      and d.setdatabase in (0, (select b.oid from pg_catalog.pg_database b where b.datname = current_database()))
  ) s
  where starts_with(s.name, 'pgrst.')
  order by s.name, s.setdatabase desc
),
callable (namespace, name) as (
  select n.nspname, p.proname
  from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  where p.prokind = 'f' and p.pronargs = p.pronargdefaults
),
asked (given, namespace, name) as (
  select s.value,
    case when strpos(s.value, '.') > 0 then split_part(s.value, '.', 1) else (
      select e.name
      from unnest(coalesce($1::text[], current_setting('pgreflect.exposed', true)::text[])) with ordinality e (name, position)
      order by not exists (select from callable c where c.namespace = e.name and c.name = s.value), e.position limit 1
    ) end,
    substr(s.value, strpos(s.value, '.') + 1)
  from settings s where s.name = 'pgrst.db_pre_request' and s.value <> ''
)
select a.given, quote_ident(coalesce(a.namespace, 'public')) || '.' || quote_ident(a.name) as function,
  exists (select from callable c where c.namespace = a.namespace and c.name = a.name) as found,
  (select coalesce(json_agg(s.name order by s.name), '[]') from settings s where s.name <> 'pgrst.db_pre_request') as others
from (values (1)) one (row) left join asked a on true
