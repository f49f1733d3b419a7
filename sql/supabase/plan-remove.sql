-- The statements that remove what `init --supabase` has made and what is still as it was, in order. Rows as in roles.sql.
--
-- The roles stay: they belong to the server, and other databases may name them. Each block counts again when it runs, and is a literal,
-- because names may have dollar signs. Only the current user's own objects, or a superuser's, with our comment are named.
with trusted as (
  select r.oid from pg_catalog.pg_roles r where r.rolsuper or r.rolname = current_user
),
part (name, oid) as (
  select n.nspname::text, n.oid
  from pg_catalog.pg_namespace n join trusted t on t.oid = n.nspowner
  where n.nspname in ('storage', 'realtime', 'cron', 'net', 'vault', 'supabase_functions', 'extensions')
    and starts_with(obj_description(n.oid, 'pg_namespace'), 'pgreflect init --supabase')
),
member (schema, place, statement) as (
  select p.oid, case c.relkind when 'v' then 1 else case c.relname when 'objects' then 2 else 3 end end,
    format('drop %s %I.%I', case c.relkind when 'v' then 'view' else 'table' end, p.name, c.relname)
  from part p join pg_catalog.pg_class c on c.relnamespace = p.oid
  where c.relkind in ('r', 'v') and (p.name, c.relname) in (
    ('storage', 'buckets'), ('storage', 'objects'), ('realtime', 'messages'), ('cron', 'job'), ('cron', 'job_run_details'),
    ('vault', 'secrets'), ('vault', 'decrypted_secrets'), ('supabase_functions', 'hooks'))
  union all
  select p.oid, 4, format('drop function %s', f.oid::regprocedure)
  from part p join pg_catalog.pg_proc f on f.pronamespace = p.oid
  where p.name <> 'extensions' and (p.name, f.proname) in (
    ('storage', 'foldername'), ('storage', 'filename'), ('storage', 'extension'), ('realtime', 'topic'), ('realtime', 'send'),
    ('realtime', 'broadcast_changes'), ('cron', 'schedule'), ('cron', 'unschedule'), ('net', 'http_post'), ('net', 'http_get'),
    ('net', 'http_delete'), ('vault', 'create_secret'), ('vault', 'update_secret'), ('supabase_functions', 'http_request'))
  union all
  select p.oid, 5, 'drop type storage.buckettype'
  from part p join pg_catalog.pg_type y on y.typnamespace = p.oid and y.typname = 'buckettype' where p.name = 'storage'
  union all
  select p.oid, 6, format('drop extension %I', e.extname)
  from part p join pg_catalog.pg_extension e on e.extnamespace = p.oid
  where p.name = 'extensions' and obj_description(e.oid, 'pg_extension') = 'pgreflect init --supabase'
  union all
  select p.oid, 7, format('drop schema %I', p.name) from part p
),
step (position, topic, statement, advice) as (
  select 1, format('publication "%s"', p.pubname), format('drop publication %I', p.pubname), null::text
  from pg_catalog.pg_publication p join trusted t on t.oid = p.pubowner
  where p.pubname = 'supabase_realtime' and obj_description(p.oid, 'pg_publication') = 'pgreflect init --supabase'
    and not exists (select from pg_catalog.pg_publication_rel r where r.prpubid = p.oid)
  union all
  select 2, 'search path of the database', format('alter database %I reset search_path', current_database()), null
  from part p
  join pg_catalog.pg_database d on d.datname = current_database()
  join pg_catalog.pg_db_role_setting s on s.setdatabase = d.oid and s.setrole = 0
  where p.name = 'extensions' and 'search_path="$user", public, extensions' = any (s.setconfig)
  union all
  select 3, format('schema "%s" of init --supabase', p.name),
    format('do %L', format(E'begin\n  if exists (select from pg_catalog.pg_policy p join pg_catalog.pg_class c on c.oid = p.polrelid where c.relnamespace = %s)\n'
      '    or exists (select from pg_catalog.pg_trigger g join pg_catalog.pg_class c on c.oid = g.tgrelid\n'
      '      where c.relnamespace = %s and not g.tgisinternal)%s then\n'
      '    raise exception %L;\n  end if;\n  %s;\nend', p.oid, p.oid,
      (select coalesce(string_agg(format(E'\n    or exists (select from %I.%I)', p.name, c.relname), '' order by c.relname), '')
        -- Others may put a view in the place of theirs, which would run as the current user. The schema is not dropped with theirs in it.
        from pg_catalog.pg_class c join trusted t on t.oid = c.relowner where c.relnamespace = p.oid and c.relkind = 'r'),
      format('the schema %s has rows, policies or triggers of yours', p.name),
      (select string_agg(m.statement, E';\n  ' order by m.place, m.statement) from member m where m.schema = p.oid))),
    null
  from part p
  union all
  select 3, format('table %s of init --supabase', c.oid::regclass),
    format('do %L', format(E'begin\n  if exists (select from auth.%I) then raise exception %L; end if;\n  drop table auth.%I;\nend',
      c.relname, 'the table has rows', c.relname)), null
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace and n.nspname = 'auth' join trusted t on t.oid = c.relowner
  where c.relkind = 'r' and obj_description(c.oid, 'pg_class') = 'pgreflect init --supabase: stored, not served'
)
select s.topic, s.statement, s.advice from step s order by s.position, s.topic
