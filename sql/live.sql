-- Records which tables a transaction has written, for the exact mode of live queries (docs/live-queries.md). watch.sql runs first.
--
-- No `notify`, which would make commits wait for each other. The setting `pgreflect.login_role` names the role that reads the rows;
-- without it, the current role does. `pgreflect.live_schemas` (JSON, a list) names the schemas whose new tables get the trigger. May be
-- run again.

create schema if not exists pgreflect;

-- Unlogged: after a crash, every gateway runs everything again.
create unlogged table if not exists pgreflect.live_change (
  xid xid8 default pg_catalog.pg_current_xact_id(),
  rel oid,
  primary key (xid, rel)
);

-- At that time, all transactions below `horizon` had ended.
create unlogged table if not exists pgreflect.live_mark (
  at timestamptz not null default pg_catalog.clock_timestamp(),
  horizon xid8 not null default pg_catalog.pg_snapshot_xmin(pg_catalog.pg_current_snapshot())
);

create table if not exists pgreflect.live_schema (name name primary key);

-- Keeps the table small where no gateway does. A row goes a minute after its transaction has ended: who reads less often than every
-- 30 seconds takes all tables as changed.
create or replace function pgreflect.prune_live_change() returns void
  language plpgsql set search_path = pg_catalog, pg_temp as $body$
begin
  -- With a snapshot of the whole transaction, a row that another one deletes is an error.
  if current_setting('transaction_isolation') <> 'read committed' then
    return;
  end if;
  delete from pgreflect.live_change c where c.ctid = any (array(
    select o.ctid from pgreflect.live_change o
    where o.xid < (select m.horizon from pgreflect.live_mark m where m.at < clock_timestamp() - interval '1 minute' order by m.horizon desc limit 1)
    order by o.xid, o.rel limit 10000 for update skip locked));
  delete from pgreflect.live_mark m where m.ctid = any (array(
    select o.ctid from pgreflect.live_mark o where o.at < clock_timestamp() - interval '5 minutes' for update skip locked));
  insert into pgreflect.live_mark default values;
end $body$;

-- Runs in every statement that writes, with the search path of the writer: each name and operator is qualified, which is quicker than
-- a search path of its own.
create or replace function pgreflect.note_live_change() returns trigger
  language plpgsql security definer as $body$
begin
  insert into pgreflect.live_change (rel) values (tg_relid) on conflict do nothing;
  -- Each thousandth transaction. There is no arithmetic for xid8, whose text takes longer.
  if (pg_catalog.txid_current() operator(pg_catalog.%) 1000::pg_catalog.int8) operator(pg_catalog.=) 0::pg_catalog.int8 then
    perform pgreflect.prune_live_change();
  end if;
  return null;
end $body$;

-- Nobody makes triggers of it on other tables.
revoke all on function pgreflect.note_live_change(), pgreflect.prune_live_change() from public;
revoke all on pgreflect.live_change, pgreflect.live_mark, pgreflect.live_schema from public;

do $body$
declare
  reader text := coalesce(nullif(pg_catalog.current_setting('pgreflect.login_role', true), ''), session_user);
begin
  execute pg_catalog.format('grant usage on schema pgreflect to %I', reader);
  execute pg_catalog.format('grant select, delete on pgreflect.live_change to %I', reader);
  execute pg_catalog.format('grant select on pgreflect.live_schema to %I', reader);
  insert into pgreflect.live_schema
  select e.value from pg_catalog.json_array_elements_text(pg_catalog.current_setting('pgreflect.live_schemas')::pg_catalog.json) e
  on conflict do nothing;
end $body$;
