-- Tables of some schemas that row security does not guard, in order of their names.
--
-- $1: json with schemas (array; null: the search path). Views run with the rights of their owner unless they say otherwise.
select pg_catalog.format('%s.%s', n.nspname, c.relname) as name,
  case c.relkind
    when 'v' then 'a view that runs with its owner''s rights'
    when 'm' then 'a materialized view'
    when 'f' then 'a foreign table'
    else 'row security is off' end as why,
  case c.relkind
    when 'v' then case when pg_catalog.current_setting('server_version_num')::int >= 150000
      then pg_catalog.format('alter view %I.%I set (security_invoker = true)', n.nspname, c.relname) end
    when 'm' then null
    when 'f' then null
    else pg_catalog.format('alter table %I.%I enable row level security', n.nspname, c.relname) end as fix
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relrowsecurity
  and not (c.relkind = 'v' and coalesce(c.reloptions && array['security_invoker=true', 'security_invoker=on', 'security_invoker=1'], false))
  and n.nspname = any (case when $1::json ->> 'schemas' is null then pg_catalog.current_schemas(false)
    else (select pg_catalog.array_agg(e.value::name) from pg_catalog.json_array_elements_text($1::json -> 'schemas') as e) end)
  and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
order by n.nspname, c.relname
