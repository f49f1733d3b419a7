-- What a Supabase project stores for services that are not here. Reads the catalog only: tables may be somebody else's.
--
-- $1: exposed schemas. One row per service: service, things (text[], names for a sentence).
with policy (service, thing) as (
  select case n.nspname when 'storage' then 'Storage' else 'Realtime' end,
    pg_catalog.format('policy "%s" on %s', p.polname, c.oid::pg_catalog.regclass)
  from pg_catalog.pg_policy p
  join pg_catalog.pg_class c on c.oid = p.polrelid
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where n.nspname in ('storage', 'realtime')
),
published (service, thing) as (
  select 'Realtime', pg_catalog.format('table %s in the publication supabase_realtime', r.prrelid::pg_catalog.regclass)
  from pg_catalog.pg_publication p join pg_catalog.pg_publication_rel r on r.prpubid = p.oid
  where p.pubname = 'supabase_realtime'
),
call (service, thing) as (
  select v.service, pg_catalog.format('function %s', f.oid::pg_catalog.regprocedure)
  from pg_catalog.pg_proc f
  join pg_catalog.pg_namespace n on n.oid = f.pronamespace and n.nspname = any ($1::text[])
  cross join (values ('Realtime', 'realtime', 'realtime\.(send|broadcast_changes)\s*\('), ('pg_net', 'net', '\mnet\.http_[a-z]+\s*\('),
    ('pg_cron', 'cron', '\mcron\.(un)?schedule\s*\('), ('Vault', 'vault', '\mvault\.[a-z]')) as v (service, schema, pattern)
  where f.prosrc ~* v.pattern and not exists (
    select from pg_catalog.pg_extension e where e.extname in ('pg_net', 'pg_cron', 'supabase_vault')
      and e.extname = case v.schema when 'net' then 'pg_net' when 'cron' then 'pg_cron' else 'supabase_vault' end)
),
webhook (service, thing) as (
  select 'Database Webhooks', pg_catalog.format('trigger "%s" on %s', g.tgname, g.tgrelid::pg_catalog.regclass)
  from pg_catalog.pg_trigger g
  join pg_catalog.pg_proc f on f.oid = g.tgfoid and f.proname = 'http_request'
  join pg_catalog.pg_namespace n on n.oid = f.pronamespace and n.nspname = 'supabase_functions'
  where not g.tgisinternal and not exists (select from pg_catalog.pg_extension e where e.extname = 'pg_net')
),
job (service, thing) as (
  select 'pg_cron', 'jobs of cron.job'
  from pg_catalog.pg_sequences s
  where s.schemaname = 'cron' and s.sequencename = 'job_jobid_seq' and s.last_value is not null
)
select a.service, pg_catalog.array_agg(a.thing order by a.thing) as things, null::text as fix
from (select p.service, p.thing from policy p union all select p.service, p.thing from published p
  union all select c.service, c.thing from call c union all select w.service, w.thing from webhook w
  union all select j.service, j.thing from job j) a
group by a.service
order by a.service
