-- Records every committed change of the catalog, so that no request is answered with an older model.
--
-- One row per transaction with changes; transactions never wait for each other. A reader compares the rows with the snapshot
-- of its model (src/postgres/caller/settings.ts). Creating event triggers needs a superuser or the provider's stand-in. The
-- setting `pgreflect.login_role` names the role that reads the rows; without it, the current role does. May be run again.

create schema if not exists pgreflect;

create table if not exists pgreflect.catalog_change (
  xid xid8 primary key default pg_catalog.pg_current_xact_id(),
  at timestamptz not null default pg_catalog.clock_timestamp()
);

create or replace function pgreflect.note_catalog_change() returns event_trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $body$
declare
  relevant boolean;
  added record;
begin
  if tg_event = 'sql_drop' then
    relevant := exists (select from pg_event_trigger_dropped_objects() d
                        where d.original and not d.is_temporary and d.schema_name is distinct from 'pg_temp');
  elsif tg_tag in ('ALTER DEFAULT PRIVILEGES', 'REFRESH MATERIALIZED VIEW', 'REINDEX', 'SECURITY LABEL') then
    relevant := false;
  else
    relevant := tg_tag = 'DROP OWNED'
      or exists (select from pg_event_trigger_ddl_commands() c where c.schema_name is distinct from 'pg_temp');
  end if;
  if relevant then
    insert into pgreflect.catalog_change default values on conflict do nothing;
    -- Keeps the table small if tables are created and dropped all day. The snapshot of every model includes rows this old.
    if pg_current_xact_id()::text::numeric % 1000 = 0 then
      delete from pgreflect.catalog_change c
      where c.xid in (select o.xid from pgreflect.catalog_change o
                      where o.at < now() - interval '30 days' limit 10000 for update skip locked);
    end if;
  end if;
  -- The exact mode of live queries (live.sql), whose last object is this function.
  if tg_event = 'ddl_command_end' and to_regprocedure('pgreflect.note_live_change()') is not null then
    insert into pgreflect.live_change (rel)
    select c.objid from pg_event_trigger_ddl_commands() c where c.command_tag = 'REFRESH MATERIALIZED VIEW' on conflict do nothing;
    for added in
      with recursive touched (oid) as (
        select c.objid from pg_event_trigger_ddl_commands() c where c.classid = 'pg_catalog.pg_class'::regclass and c.object_type = 'table'
        union
        select i.inhrelid from touched t join pg_catalog.pg_inherits i on i.inhparent = t.oid
      ),
      above (oid, ancestor) as (
        select t.oid, t.oid from touched t
        union
        select a.oid, i.inhparent from above a join pg_catalog.pg_inherits i on i.inhrelid = a.ancestor
      )
      select format('%I.%I', n.nspname, c.relname) as name
      from pg_catalog.pg_class c
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where c.oid in (
          select a.oid from above a
          join pg_catalog.pg_class p on p.oid = a.ancestor join pg_catalog.pg_namespace s on s.oid = p.relnamespace join pgreflect.live_schema l on l.name = s.nspname)
        and c.relkind in ('r', 'p') and c.relpersistence <> 't'
        and not exists (select from pg_catalog.pg_trigger t where t.tgrelid = c.oid and t.tgfoid = 'pgreflect.note_live_change()'::regprocedure)
    loop
      begin
        execute format('create trigger pgreflect_live after insert or update or delete or truncate on %s'
          ' for each statement execute function pgreflect.note_live_change()', added.name);
        execute format('alter table %s enable always trigger pgreflect_live', added.name);
      exception when others then
        -- The command of its owner goes on. Live queries on this table run at an interval.
        null;
      end;
    end loop;
  end if;
end $body$;

do $body$
declare
  reader text := coalesce(nullif(pg_catalog.current_setting('pgreflect.login_role', true), ''), session_user);
begin
  execute pg_catalog.format('grant usage on schema pgreflect to %I', reader);
  execute pg_catalog.format('grant select on pgreflect.catalog_change to %I', reader);
end $body$;

drop event trigger if exists pgreflect_ddl;
drop event trigger if exists pgreflect_drop;
create event trigger pgreflect_ddl on ddl_command_end execute function pgreflect.note_catalog_change();
create event trigger pgreflect_drop on sql_drop execute function pgreflect.note_catalog_change();
-- They also fire if session_replication_role is replica.
alter event trigger pgreflect_ddl enable always;
alter event trigger pgreflect_drop enable always;
