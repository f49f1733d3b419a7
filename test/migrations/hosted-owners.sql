-- Who owns what Supabase serves, and what `postgres` may do there: rows and triggers, but no new objects.
do $body$
declare
  part record;
  statement text;
begin
  for part in values ('auth', 'supabase_auth_admin'), ('storage', 'supabase_storage_admin'), ('realtime', 'supabase_realtime_admin'),
      ('cron', 'supabase_admin'), ('net', 'supabase_admin'), ('vault', 'supabase_admin') loop
    for statement in
      select format('alter table %s owner to %I', c.oid::regclass, part.column2)
      from pg_class c where c.relnamespace = part.column1::regnamespace and c.relkind in ('r', 'v')
      union all
      select format('alter function %s owner to %I', p.oid::regprocedure, part.column2)
      from pg_proc p where p.pronamespace = part.column1::regnamespace
      union all
      select format('alter type %s owner to %I', t.oid::regtype, part.column2)
      from pg_type t where t.typnamespace = part.column1::regnamespace and t.typtype = 'e'
      union all
      select format('alter schema %I owner to %I', part.column1, part.column2)
      union all
      select format('comment on schema %I is null', part.column1)
      union all
      select format('grant usage on schema %I to postgres, anon, authenticated, service_role', part.column1)
      union all
      select format('grant all on all tables in schema %I to postgres with grant option', part.column1)
      union all
      select format('grant all on all sequences in schema %I to postgres with grant option', part.column1)
    loop
      execute statement;
    end loop;
  end loop;
end $body$;
-- Hosted projects have an extension that lets `postgres` write policies there.
grant supabase_storage_admin, supabase_realtime_admin to postgres;
